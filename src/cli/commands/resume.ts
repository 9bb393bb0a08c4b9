import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Session } from '../../session/session.ts';
import { LEASE_MS } from '../../session/writer.ts';
import { type Io, note, paint, print, printJson } from '../io.ts';
import { examples, rootOption } from '../options.ts';
import { quoted } from '../visible.ts';
import { openShellSession } from './shell.ts';

interface Options {
  readonly root: string;
}

export function register(program: Command, io: Io): void {
  program
    .command('resume')
    .summary('take up a session where its evidence ends')
    .description(
      'Folds a session from its evidence and says where it stands. A step whose writer died between intent and outcome is recorded as interrupted;\nit is never run again. "hopgate shell --session ID" goes on by hand.',
    )
    .argument('<session>', 'its id, or the beginning of it')
    .addOption(rootOption())
    .addHelpText('after', examples('hopgate resume s-4f1c', 'hopgate resume s-4f1c --root ../other --json'))
    .action((id: string, options: Options) => resume(io, id, options));
}

async function resume(io: Io, id: string, { root }: Options): Promise<void> {
  const session = await openShellSession(io, { root, agent: 'shell', session: id });
  try {
    const settled = await settleOnceFree(io, session);
    const { state } = session;
    if (!settled.ok) io.exitCode = 1;
    if (io.json)
      return printJson(io, {
        ...state,
        settled: settled.ok ? settled.evidence : settled.denial,
        available: session.available(),
      });
    if (!settled.ok)
      return print(
        io,
        `${paint(io, 'red', settled.denial.code)}: ${settled.denial.message}\n  ${settled.denial.remedy}`,
      );
    print(
      io,
      `session ${state.sessionId} of ${state.agent}: ${state.closed ? 'closed' : `${state.mode ?? 'no mode gate'}, ${state.peripheral ?? 'outside of any peripheral'}`}`,
    );
    print(io, `  ${state.steps} steps, ${state.denials} refused`);
    for (const entry of settled.evidence)
      print(io, `  ${paint(io, 'yellow', String(entry.tags.at(-1)))} recorded now: ${entry.id}`);
    if (!state.closed)
      print(io, paint(io, 'dim', `Go on with: hopgate shell --session ${state.sessionId} --root ${quoted(root)}`));
  } finally {
    await session.detach();
  }
}

/** A writer that was killed could not give its lease back; it runs out by itself soon after. One that lives renews it, and we give up. */
async function settleOnceFree(io: Io, session: Session): ReturnType<Session['settle']> {
  const first = await session.settle();
  if (first.ok || first.denial.code !== 'session-busy') return first;
  const seconds = Math.ceil(LEASE_MS / 1000) + 10;
  note(
    io,
    `another writer holds the session; if it was killed, its lease ends within ${seconds} s, so we wait for that`,
  );
  let settled: Awaited<ReturnType<Session['settle']>> = first;
  for (let waited = 0; waited < seconds && !settled.ok && settled.denial.code === 'session-busy'; waited += 1) {
    await sleep(1000);
    settled = await session.settle();
  }
  return settled;
}
