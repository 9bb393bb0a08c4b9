import type { AgentSession } from '../../adapters/core/agent-session.ts';
import { agentSession } from '../../adapters/core/local-agent-session.ts';
import { recordTranscript } from '../../adapters/core/transcript/record-transcript.ts';
import { transcriptPath, transcriptTo } from '../../adapters/core/transcript/transcript-file.ts';
import { openSession } from '../../open-session.ts';
import type { Approver } from '../../ports/approver.ts';
import { openProject } from '../../project/open-project.ts';
import { ensureStateDir, evidenceFile } from '../../project/state-dir.ts';
import type { Session } from '../../session/session.ts';
import { chooseFirstPeripheral } from '../../spec/first-peripheral.ts';
import { loadSpecs } from '../../spec/load/load-specs.ts';
import { checkApproveOption } from '../approve/approve-option.ts';
import { findSessionIn } from '../choose-sessions.ts';
import { checkPeripheralOption, resolveSpecsOption } from '../choose-specs.ts';
import { CliError, type Io, usageError } from '../io.ts';
import { printConfigWarnings } from '../print-config-warnings.ts';

export interface AgentSessionOptions {
  /** Absolute real path. */
  readonly root: string;
  readonly agent: string;
  /** The id, or an id prefix, of a session to continue. */
  readonly session?: string;
  /** The spec set of a new session; default: the repository's. */
  readonly specs?: string;
  /** The first peripheral of a new session; default: {@link chooseFirstPeripheral}. */
  readonly peripheral?: string;
  readonly observe: boolean;
  readonly telemetry: boolean | { readonly contents: boolean };
  readonly unsafeNoSandbox: boolean;
  readonly approver: Approver;
  readonly approve: readonly string[];
}

/** Opens a session for an agent's program in this process: a new one, started in a peripheral, or an existing one. */
export async function openAgentSession(io: Io, options: AgentSessionOptions): Promise<AgentSession> {
  const { root, approver, unsafeNoSandbox } = options;
  const project = await openProject(root, io.env);
  printConfigWarnings(io, project);
  ensureStateDir(root, io.env);
  const found = options.session === undefined ? null : await findSessionIn(io, root, options.session);
  const specs = options.specs === undefined ? project.specs : await loadSpecs(resolveSpecsOption(io, options.specs));
  if (found === null) checkApproveOption(options.approve, specs);
  if (found === null && options.peripheral !== undefined) checkPeripheralOption(options.peripheral, specs);
  const session = await openSession({
    root,
    approver,
    unsafeNoSandbox,
    observe: options.observe,
    telemetry: options.telemetry,
    agent: found?.agent ?? options.agent,
    specs,
    config: project.config,
    store: evidenceFile(root, io.env),
    session: found?.sessionId,
  });
  try {
    checkApproveOption(options.approve, session.specs);
    await enterPeripheral(session, options.peripheral, found !== null);
    const transcript = transcriptTo(transcriptPath(ensureStateDir(root, io.env), session.id));
    return recordTranscript(agentSession(session), transcript);
  } catch (error) {
    await session.detach();
    throw error;
  }
}

/** Starts a new session in a peripheral, so that it has tools; a continued session stays in its peripheral. */
async function enterPeripheral(session: Session, requested: string | undefined, isContinued: boolean): Promise<void> {
  const { peripheral } = session.state;
  if (isContinued && requested === undefined) return;
  if (isContinued && requested !== undefined && peripheral !== null && peripheral !== requested)
    throw usageError(
      `the session is in ${peripheral}, and only a hop leaves that peripheral`,
      'Leave out --peripheral.',
      'already-active',
    );
  if (peripheral !== null) return;
  const first = requested ?? chooseFirstPeripheral(session.specs);
  if (first === null) return;
  const started = await session.start(first);
  if (!started.ok) throw new CliError(started.denial.code, started.denial.message, started.denial.remedy);
}
