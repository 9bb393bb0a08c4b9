import { realpathSync } from 'node:fs';
import { fieldsOf } from '../base/json.ts';
import { hasLiveLease } from '../base/process-holder.ts';
import { errorText } from '../base/text.ts';
import type { Env } from '../base/user-folders.ts';
import { listPendingItems } from '../operator/pending-items.ts';
import type { EvidenceStore, SessionSummary } from '../ports/evidence-store.ts';
import { ProjectError } from '../project/project-error.ts';
import { repositoryOfFolder } from '../project/repository-root.ts';
import { findEvidenceIn, stateDir } from '../project/state-dir.ts';
import { readSessionState, type SessionWithState } from '../session/resume-point.ts';
import { foldToEnd } from '../session/state/fold-entries.ts';
import type { Json } from '../spec/types.ts';
import { formatStatusLine, type StatusLineData, statusLineDataOf } from '../view/status-line.ts';
import { ConversationFiles } from './conversation-files.ts';
import { isProcessRunning } from './hook/client-process.ts';

export interface SessionStatusQuery {
  /** Absolute real path of the repository. */
  readonly root: string;
  /** The id of the session; null selects the conversation's session or, without one, the newest session in use. */
  readonly session: string | null;
  /** The id of a conversation of Claude Code. */
  readonly conversation?: string | null;
}

const MAX_SESSIONS = 50;

/** Reads the status of sessions from their evidence. It takes no lease, so another process can write meanwhile. */
export class StatusReader {
  readonly #env: Env;
  readonly #folded = new Map<string, SessionWithState>();

  constructor(env: Env) {
    this.#env = env;
  }

  /** The status of the chosen session; null if there is none, or if its content was erased. */
  async read(store: EvidenceStore, query: SessionStatusQuery): Promise<StatusLineData | null> {
    const summary = chooseSession(await store.sessions(), query, this.#env);
    if (!summary || summary.erased) return null;
    const { sessionId } = summary;
    const known = this.#folded.get(sessionId);
    const read = known
      ? { ...known, state: await foldToEnd(store, known.tables, known.state) }
      : await readSessionState(store, sessionId);
    this.#folded.delete(sessionId);
    this.#folded.set(sessionId, read);
    if (this.#folded.size > MAX_SESSIONS) this.#folded.delete(this.#folded.keys().next().value!);
    const waiting = listPendingItems(stateDir(query.root, this.#env)).filter(({ answer }) => answer === null).length;
    return statusLineDataOf(read.pin, read.state, Date.now(), waiting);
  }
}

function chooseSession(
  all: readonly SessionSummary[],
  query: SessionStatusQuery,
  env: Env,
): SessionSummary | undefined {
  const files = ConversationFiles.existing(query.root, env);
  if (query.session !== null) return all.find(({ sessionId }) => sessionId === query.session);
  if (query.conversation) {
    const conversation = { client: 'claude-code', id: query.conversation, agentId: null, root: query.root } as const;
    const record = files?.read(conversation);
    return all.find(({ sessionId }) => sessionId === record?.sessionId);
  }
  return all.find((session) => {
    if (session.closed || session.archived) return false;
    const owner = files?.owner(session.sessionId);
    if (owner && owner.parent !== null) return false;
    return (
      hasLiveLease(session) || [owner?.program, owner?.client].some((process) => process && isProcessRunning(process))
    );
  });
}

/** True if a root has evidence. Creates nothing. A folder that contains the state folder never has evidence. */
export function hasEvidence(root: string, env: Env): boolean {
  try {
    return findEvidenceIn(stateDir(root, env)) !== null;
  } catch (error) {
    if (error instanceof ProjectError && error.code === 'state-dir-inside-root') return false;
    throw error;
  }
}

interface StatusLineRequest {
  /** A folder of the repository; empty for the folder that the environment, the input or `cwd` names. */
  readonly folder: string;
  /** The JSON that Claude Code writes to the program; empty for other programs. */
  readonly input: string;
  readonly env: Env;
  readonly cwd: string;
}

/**
 * Answers the program that prints a status line. Never throws: if it fails, nothing is printed.
 * @param read returns the status of a session
 */
export async function answerStatusLine(
  { folder, input, env, cwd }: StatusLineRequest,
  read: (query: SessionStatusQuery) => Promise<StatusLineData | null>,
): Promise<{ readonly exit: number; readonly stdout: string; readonly stderr: string }> {
  try {
    const event = fieldsOf(input.trim() === '' ? null : (JSON.parse(input) as Json));
    const session = env['HOPGATE_SESSION'] || null;
    const workspace = fieldsOf(event['workspace'] ?? null);
    const stated = [folder, env['CLAUDE_PROJECT_DIR'], workspace['project_dir'], event['cwd'], cwd];
    const named = session !== null && folder === '' ? env['HOPGATE_ROOT'] : undefined;
    const statedFolder = stated.find((path): path is string => typeof path === 'string' && path !== '') ?? cwd;
    const root = named ? realpathSync(named) : repositoryOfFolder(realpathSync(statedFolder));
    const { session_id: id } = event;
    const conversation = typeof id === 'string' ? id : null;
    const status = await read({ root, session: folder === '' ? session : null, conversation });
    return { exit: 0, stdout: `${formatStatusLine(status, !env['HOPGATE_NO_COLOR'])}\n`, stderr: '' };
  } catch (error) {
    return { exit: 1, stdout: '', stderr: `hopgate: ${errorText(error)}\n` };
  }
}
