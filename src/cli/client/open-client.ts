import { SessionBusyError } from '../../daemon/open-sessions.ts';
import type { SessionHost } from '../../daemon/session-host.ts';
import { openProject } from '../../project/open-project.ts';
import type { ProjectConfig, SpecSet } from '../../spec/types.ts';
import { findInstructionProblem, type InstructionReader } from '../../tools/instruction-imports.ts';
import { checkApproveOption } from '../approve/approve-option.ts';
import { findSessionIn } from '../choose-sessions.ts';
import { checkPeripheralOption } from '../choose-specs.ts';
import { CliError, type Io, printRemark, usageError } from '../io.ts';
import { printConfigWarnings } from '../print-config-warnings.ts';
import type { ClientCommand } from './client-command.ts';
import { findContinuedSessionId } from './continued-session.ts';

/**
 * Opens the session for a client program, and records the operator's approvals in advance.
 * @throws CliError if the options do not fit the session, or if another program uses it
 */
export async function openClientSession(
  io: Io,
  host: SessionHost,
  root: string,
  agent: InstructionReader,
  command: ClientCommand,
): Promise<{ readonly sessionId: string; readonly specs: SpecSet; readonly config: ProjectConfig }> {
  const project = await openProject(root, io.env);
  printConfigWarnings(io, project);
  if (command.peripheral !== null) checkPeripheralOption(command.peripheral, project.specs);
  const problem = findInstructionProblem({ root, config: project.config }, agent);
  if (problem) throw new CliError('instructions-show', problem.message, problem.remedy);
  // For a new session, the options are checked before it is opened. A continued session must be opened first, because
  // its spec set is known only then.
  if (command.session === null) {
    checkApproveOption(command.approve, project.specs);
    refuseSeparateApproval(command, agent, project.specs);
  }
  const session = command.session ?? (await openContinued(io, root, agent, command));
  const sessionId = await openOrFindSession(io, host, root, { agent, ...command, session });
  const { specs, config } = await host.sessions.join(root, sessionId, async ({ specs, config }) => ({ specs, config }));
  checkApproveOption(command.approve, specs);
  await host.sessions.claim(root, sessionId, { approve: command.approve }).catch((cause: unknown) => {
    if (!(cause instanceof SessionBusyError)) throw cause;
    const remedy = 'Wait until it ends, or leave out --session to open another one.';
    throw new CliError('session-busy', cause.message, remedy, { cause });
  });
  return { sessionId, specs, config };
}

/**
 * Refuses a second approval that is separated by a space: the client program would take it for its prompt.
 * @throws CliError `usage`
 */
function refuseSeparateApproval(
  { approve, afterApprove }: ClientCommand,
  agent: InstructionReader,
  { peripherals, modeGate }: SpecSet,
): void {
  const names = [...Object.keys(peripherals), ...Object.keys(modeGate?.effects ?? {}), 'all'];
  if (afterApprove === null || !names.includes(afterApprove)) return;
  const program = agent === 'codex' ? 'codex' : 'claude';
  throw usageError(
    `"${afterApprove}" after --approve ${approve.join(',')} would be read as the prompt of ${program}`,
    `Approve both: --approve ${[...approve, afterApprove].join(',')}. Or write the prompt after --: hopgate ${program} --approve ${approve.join(',')} -- ${afterApprove}.`,
  );
}

/** The open session of the conversation that the client program continues; null if there is none. */
async function openContinued(
  io: Io,
  root: string,
  agent: InstructionReader,
  { continued, peripheral }: ClientCommand,
): Promise<string | null> {
  const session = continued && peripheral === null ? findContinuedSessionId(io, root, agent, continued) : null;
  if (session === null) return null;
  const summary = await findSessionIn(io, root, session).catch(() => null); // The session may have been pruned.
  if (summary?.closed === false) return session;
  printRemark(io, `the session of this conversation, ${session}, is ${summary ? 'closed' : 'gone'}; opening a new one`);
  return null;
}

/** The session for a client program: a new one in its first peripheral, or an existing one. The id may be a prefix. */
async function openOrFindSession(
  io: Io,
  host: SessionHost,
  root: string,
  options: Pick<ClientCommand, 'session' | 'peripheral' | 'observe'> & { readonly agent: string },
): Promise<string> {
  const { agent, session, peripheral, observe } = options;
  if (session === null) {
    const env = peripheral === null ? {} : { HOPGATE_PERIPHERAL: peripheral };
    return host.conversations.attach(root, agent, { env, pid: null, observe });
  }
  if (peripheral !== null)
    throw usageError('--peripheral is only for a new session', 'Leave out --peripheral, or --session.');
  const found = await findSessionIn(io, root, session);
  if (!found.closed) return found.sessionId;
  throw new CliError('session-closed', `session ${found.sessionId} is closed`, 'Leave --session out for a new one.');
}
