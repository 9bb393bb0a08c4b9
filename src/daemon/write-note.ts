import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionHost } from './session-host.ts';

/** Maximum time that a note waits for the end of a running call, in milliseconds. */
const WAIT_MS = 10_000;

/** Records words of the operator for an agent. @throws Error if the session is closed, or a call does not end */
export async function writeNote(
  host: SessionHost,
  { root, session, text }: { readonly root: string; readonly session: string; readonly text: string },
) {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const done = await host.sessions.use(
      root,
      session,
      'a note',
      async (at) => (at.state.closed ? null : at.note(text)),
      WAIT_MS,
    );
    if (done?.ok) return done;
    if (done === null) throw new Error(`session ${session} is closed, so nobody reads a note there`);
    if (Date.now() >= until) throw new Error('a call of the agent is running; send the note again after it');
    await sleep(100);
  }
}
