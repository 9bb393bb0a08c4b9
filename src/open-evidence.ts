import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { isAccessible } from './base/files.ts';
import type { Env } from './base/user-folders.ts';
import type { EvidenceStore } from './ports/evidence-store.ts';
import { ensureStateDir, evidenceFileIn, stateDir } from './project/state-dir.ts';
import { isDiskFull } from './stores/sqlite/node-sqlite.ts';
import type { SqliteStoreOptions } from './stores/sqlite/sqlite-parts.ts';
import { sqliteStore } from './stores/sqlite.ts';

/**
 * Opens the evidence of a repository; the caller closes it.
 * @param access `create` makes the state folder and the file if they are missing. `read` needs an existing file; its
 * folder need not be writable, and its disk may be full.
 */
export function openEvidence(
  root: string,
  env: Env,
  access: 'create' | 'read',
  options?: SqliteStoreOptions,
): EvidenceStore {
  const dir = access === 'create' ? ensureStateDir(root, env) : stateDir(root, env);
  return openEvidenceFile(evidenceFileIn(dir), access, options);
}

/** Opens evidence as {@link openEvidence} does, from a known file. */
export function openEvidenceFile(
  file: string,
  access: 'create' | 'read',
  options: SqliteStoreOptions = {},
): EvidenceStore {
  return sqliteStore(file, access === 'read' ? { readOnly: !isWritable(file), ...options } : options);
}

const isWritable = (file: string): boolean =>
  [file, dirname(file)].every((path) => isAccessible(path, constants.W_OK)) && !isDiskFull(file);
