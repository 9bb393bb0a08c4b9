import { openEvidence, openEvidenceFile } from '../open-evidence.ts';
import type { EvidenceStore, SessionSummary } from '../ports/evidence-store.ts';
import { findEvidenceIn, stateDir } from '../project/state-dir.ts';
import { didYouMean } from '../spec/names.ts';
import { CliError, type Io } from './io.ts';

/**
 * Opens a root's evidence for `use`, and closes it afterwards. Returns `none` if no session has been opened yet.
 * Reading also works on a state folder that this process cannot write.
 * @param access `write` if `use` changes the evidence
 */
export async function withEvidence<T>(
  root: string,
  env: Io['env'],
  none: T,
  use: (store: EvidenceStore) => Promise<T>,
  access: 'read' | 'write' = 'read',
): Promise<T> {
  const file = findEvidenceIn(stateDir(root, env));
  if (file === null) return none;
  if (access === 'write') return withCreatedEvidence(root, env, use);
  return useAndCloseStore(openEvidenceFile(file, 'read'), use);
}

/** Opens a root's evidence for `use`, and closes it afterwards. Creates it if no session has been opened yet. */
export async function withCreatedEvidence<T>(
  root: string,
  env: Io['env'],
  use: (store: EvidenceStore) => Promise<T>,
): Promise<T> {
  return useAndCloseStore(openEvidence(root, env, 'create'), use);
}

export async function useAndCloseStore<T>(store: EvidenceStore, use: (store: EvidenceStore) => Promise<T>): Promise<T> {
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * Finds the session with this id, name or id prefix.
 * @throws CliError `unknown-session` with the nearest id, or `ambiguous-session` with the candidates.
 */
export function findSession(sessions: readonly SessionSummary[], id: string): SessionSummary {
  const exact = sessions.find(({ sessionId }) => sessionId === id) ?? sessions.find(({ name }) => name === id);
  if (exact !== undefined) return exact;
  const begun = id === '' ? [] : sessions.filter(({ sessionId }) => sessionId.startsWith(id));
  if (begun.length === 1) return begun[0]!;
  if (begun.length > 1)
    throw new CliError(
      'ambiguous-session',
      `${begun.length} sessions have an id that begins with "${id}": ${begun.map(({ sessionId }) => sessionId).join(', ')}`,
      'Write more of the id.',
    );
  const near = didYouMean(
    id,
    sessions.map(({ sessionId }) => sessionId),
  );
  throw new CliError('unknown-session', `there is no session "${id}"`, `${near}List them with "hopgate sessions".`);
}
