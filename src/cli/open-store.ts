import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EvidenceStore, SessionSummary } from '../ports/evidence-store.ts';
import { ensureStateDir, stateDir } from '../project/state-dir.ts';
import { nearest } from '../spec/names.ts';
import { sqliteStore } from '../stores/sqlite.ts';
import { CliError, type Io } from './io.ts';

/** The path of a root's evidence file. */
export const evidenceFile = (root: string, env: Io['env']): string => join(stateDir(root, env), 'evidence.db');

/**
 * Opens a root's evidence for `use`, and closes it afterwards. Returns `none` if no session has been opened yet. A
 * command that only reads also works on a state folder that it cannot write.
 *
 * @param access `write` if `use` changes the evidence
 */
export async function withStore<T>(
  root: string,
  env: Io['env'],
  none: T,
  use: (store: EvidenceStore) => Promise<T>,
  access: 'read' | 'write' = 'read',
): Promise<T> {
  const file = evidenceFile(root, env);
  if (!existsSync(file)) return none;
  if (access === 'write') return withNewStore(root, env, use);
  return closedAfter(openStore(file), use);
}

/** Opens a root's evidence for `use`, and closes it afterwards. Creates it if no session has been opened yet. */
export async function withNewStore<T>(
  root: string,
  env: Io['env'],
  use: (store: EvidenceStore) => Promise<T>,
): Promise<T> {
  return closedAfter(createStore(root, env), use);
}

/** Opens a root's evidence, and creates it if no session has been opened yet. The caller closes it. */
export function createStore(root: string, env: Io['env']): EvidenceStore {
  ensureStateDir(root, env);
  return sqliteStore(evidenceFile(root, env));
}

/** Opens an evidence file that exists, to read it. The caller closes it. */
export const openStore = (file: string): EvidenceStore => sqliteStore(file, { readOnly: !isWritable(file) });

export async function closedAfter<T>(store: EvidenceStore, use: (store: EvidenceStore) => Promise<T>): Promise<T> {
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function isWritable(file: string): boolean {
  try {
    for (const path of [file, dirname(file)]) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds the session with this id, name or id prefix.
 *
 * @throws CliError `unknown-session` with the nearest id, or `ambiguous-session` with the candidates.
 */
export function findSession(sessions: readonly SessionSummary[], id: string): SessionSummary {
  const exact = sessions.find(({ sessionId }) => sessionId === id) ?? sessions.find(({ name }) => name === id);
  if (exact !== undefined) return exact;
  const begun = id === '' ? [] : sessions.filter(({ sessionId }) => sessionId.startsWith(id));
  if (begun.length === 1) return begun[0]!;
  const ids = sessions.map(({ sessionId }) => sessionId);
  if (begun.length > 1)
    throw new CliError(
      'ambiguous-session',
      `"${id}" begins ${begun.length} sessions: ${begun.map(({ sessionId }) => sessionId).join(', ')}`,
      'Write more of the id.',
    );
  const near = nearest(id, ids);
  throw new CliError(
    'unknown-session',
    `there is no session "${id}"`,
    near === null ? 'List them with "hopgate sessions".' : `Did you mean ${near}? List them with "hopgate sessions".`,
  );
}
