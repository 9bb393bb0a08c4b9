import { sendOperatorAct } from '../../../daemon/remote-agent-session.ts';
import { ensureOperatorToken } from '../../../operator/operator-token.ts';
import { ensureStateDir } from '../../../project/state-dir.ts';
import type { Session } from '../../../session/session.ts';
import { findSessionIn } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, print, printJson } from '../../io.ts';
import { formatDenial } from '../../run/show-result.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options extends RootOption {
  readonly exit?: string;
  readonly reason: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Moves a session to another peripheral as the operator. The gate judges the hop; a running Claude Code or Codex is informed of it with its next call or turn. Its world and its backpack are kept.',
    )
    .argument('<session>', 'the id of the session, or its first characters')
    .argument('<peripheral>', 'the peripheral to enter')
    .addOption(rootOption())
    .option('--exit <exit>', 'the exit to take; needed if several exits lead to the peripheral')
    .option('--reason <text>', 'the reason, which the evidence keeps', 'the operator asked')
    .examples('hopgate hop s-4f1c chat --exit user-request --reason "I need you here"')
    .action((session: string, to: string, options: Options) => hop(io, session, to, options));
}

async function hop(io: Io, id: string, to: string, { exit, reason, ...options }: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const chosen = await findSessionIn(io, root, id);
  const { sessionId: session } = chosen;
  const token = ensureOperatorToken(ensureStateDir(root, io.env));
  const act = { op: 'hop' as const, root, session, to, reason, token, exit };
  const answer = (await sendOperatorAct(act, io.env)) as Awaited<ReturnType<Session['hop']>>;
  if (!answer.ok) io.exitCode = 1;
  if (io.json) printJson(io, { session, ...answer, evidence: answer.evidence.map(({ id: entry }) => entry) });
  else if (answer.ok) print(io, `${chosen.agent} is in ${to} now.`);
  else print(io, formatDenial(io, answer.denial, '').replace(/Write \{.*?\}\. /, ''));
}
