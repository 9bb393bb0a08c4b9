import { escapeInvisible } from '../../../base/text.ts';
import { StatusReader } from '../../../daemon/answer-status-line.ts';
import { formatStatusLine, type StatusLineData } from '../../../view/status-line.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, printResult } from '../../io.ts';
import { findSession, withEvidence } from '../../open-store.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options extends RootOption {
  readonly session?: string;
  readonly line?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Shows where a session is: its peripheral, its mode, the state of its tests, and how many requests of the repository wait for the operator. Without an id, it shows the newest session that a program works in.',
    )
    .argument('[session]', 'the id or name of the session, or the first characters of the id')
    .addOption(rootOption())
    .option('--session <id>', 'the same as the argument')
    .option('--line', 'print one line, for a prompt or a status bar')
    .examples('hopgate status', 'hopgate status --line', 'hopgate status s-4f1c --json')
    .action((session: string | undefined, options: Options) => show(io, { ...options, ...(session && { session }) }));
}

async function show(io: Io, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const status = await withEvidence<StatusLineData | null>(root, io.env, null, async (store) => {
    const session = options.session === undefined ? null : findSession(await store.sessions(), options.session);
    return new StatusReader(io.env).read(store, { root, session: session?.sessionId ?? null });
  });
  const line = formatStatusLine(status, io.color);
  const isBare = options.line || status === null;
  printResult(
    io,
    status,
    isBare ? line : `${escapeInvisible(status.sessionId)} (${escapeInvisible(status.agent)}): ${line}`,
  );
}
