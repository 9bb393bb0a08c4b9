import { plural, toShellWord } from '../../base/text.ts';
import type { CliCommand } from '../cli-command.ts';
import { type Io, paint, print, printJson } from '../io.ts';
import { type RootOption, resolveRootOption, rootOption } from '../shared-options.ts';
import { openShellSession } from './shell.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Computes the state of a session from its evidence and prints it. If a step was interrupted, an entry records that; the step is never run again. Continue by hand with "hopgate shell --session ID".',
    )
    .argument('<session>', 'the id of the session, or its first characters')
    .addOption(rootOption())
    .examples('hopgate resume s-4f1c', 'hopgate resume s-4f1c --root ../other --json')
    .action((id: string, options: RootOption) => resume(io, id, options));
}

async function resume(io: Io, id: string, { root }: RootOption): Promise<void> {
  const session = await openShellSession(io, { root, agent: 'shell', session: id });
  try {
    const settled = await session.settle();
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
    print(io, `  ${plural(state.steps, 'step')}, ${state.denials} refused`);
    for (const entry of settled.evidence)
      print(io, `  ${paint(io, 'yellow', String(entry.tags.at(-1)))} recorded now: ${entry.id}`);
    if (!state.closed)
      print(
        io,
        paint(
          io,
          'dim',
          `Continue with: hopgate shell --session ${state.sessionId} --root ${toShellWord(resolveRootOption(io, { root }))}`,
        ),
      );
  } finally {
    await session.detach();
  }
}
