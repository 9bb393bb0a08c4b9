import type { SessionHost } from '../../daemon/host.ts';
import { SessionBusy } from '../../daemon/open-sessions.ts';
import { openProject } from '../../project/open-project.ts';
import type { ProjectConfig, SpecSet } from '../../spec/types.ts';
import { type InstructedClient, instructionProblem } from '../../tools/instruction-imports.ts';
import { checkApproved } from '../approve/approve-option.ts';
import { CliError, type Io } from '../io.ts';
import { printConfigWarnings } from '../print-config-warnings.ts';
import { clientSession } from './client-session.ts';
import type { ClientCommand } from './own-options.ts';

/**
 * Opens the session for a client program, and records the operator's approvals in advance.
 *
 * @throws CliError if the command asks for something impossible
 */
export async function openClient(
  io: Io,
  host: SessionHost,
  root: string,
  agent: InstructedClient,
  command: ClientCommand,
): Promise<{ readonly sessionId: string; readonly specs: SpecSet; readonly config: ProjectConfig }> {
  const project = await openProject(root, io.env);
  printConfigWarnings(io, project);
  const shown = instructionProblem({ root, config: project.config }, agent);
  if (shown) throw new CliError('instructions-show', shown.message, shown.remedy);
  // Checked before anything is opened. A continued session has its own spec set, so its names are checked later.
  if (command.session === null) checkApproved(command.approve, project.specs);
  const sessionId = await clientSession(io, host, root, { agent, ...command });
  const { specs, config } = await host.join(root, sessionId, async ({ specs, config }) => ({ specs, config }));
  checkApproved(command.approve, specs);
  await host.claim(root, sessionId, { approve: command.approve }).catch((cause: unknown) => {
    if (!(cause instanceof SessionBusy)) throw cause;
    const remedy = 'Wait until it ends, or leave out --session to open another one.';
    throw new CliError('session-busy', cause.message, remedy, { cause });
  });
  return { sessionId, specs, config };
}
