import type { SessionHost } from '../../daemon/session-host.ts';
import { findOpenedSession } from '../choose-sessions.ts';
import { CliError, type Io, usageError } from '../io.ts';

/** The session for a client program: a new one in its first peripheral, or an existing one. The id may be a prefix. */
export async function clientSession(
  io: Io,
  host: SessionHost,
  root: string,
  wanted: {
    readonly agent: string;
    readonly session: string | null;
    readonly peripheral: string | null;
    readonly observe: boolean;
  },
): Promise<string> {
  const { agent, session, peripheral, observe } = wanted;
  if (session === null) {
    const env = peripheral === null ? {} : { HOPGATE_PERIPHERAL: peripheral };
    return host.conversations.attach(root, agent, { env, pid: null, observe });
  }
  if (peripheral !== null) throw usageError('a continued session stays in its peripheral', 'Leave out --peripheral.');
  const found = await findOpenedSession(io, root, session);
  if (!found.closed) return found.sessionId;
  throw new CliError(
    'session-closed',
    `session ${found.sessionId} is closed`,
    'Leave out --session to open a new one.',
  );
}
