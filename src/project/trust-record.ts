import { hash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { listFileNames, readTextOrEmpty, writeAtomically } from '../base/files.ts';
import { fieldsOf, parseJson } from '../base/json.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';
import { valueOr } from '../base/value-or.ts';
import { readProjectFile } from '../spec/load/load-project-config.ts';
import { CONFIG_FILE } from './repository-root.ts';
import { ensureStateDir, stateDir } from './state-dir.ts';
import { otherWorkTrees } from './work-trees.ts';

/** The operator's consent to use the hopgate.yaml and the specs of a repository with the recorded content. */
export interface TrustRecord {
  readonly version: 1;
  readonly root: string;
  /** sha256 (hex) of hopgate.yaml. */
  readonly config: string;
  /** The repository's own spec folder and the hash of its spec set; null for the default specs. */
  readonly specs: { readonly folder: string; readonly hash: string } | null;
  /** ISO 8601. */
  readonly at: string;
}

const fileOf = (dir: string): string => join(dir, 'trust.json');

/** Reads the trust record of this root; null if there is none, or it cannot be parsed. */
function readTrust(root: string, env: Env): TrustRecord | null {
  try {
    const record = JSON.parse(readFileSync(fileOf(stateDir(root, env)), 'utf8')) as Partial<TrustRecord> | null;
    return record?.version === 1 && typeof record.config === 'string' && record.root === root
      ? (record as TrustRecord)
      : null;
  } catch (error) {
    // With ENOTDIR the state folder cannot exist, so nothing is trusted; the next write reports the problem.
    if (error instanceof SyntaxError || ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return null;
    throw error;
  }
}

/**
 * Reads the trust record that applies to a hopgate.yaml: the record of its root, or the record of another work tree of
 * the same git repository, if the operator trusts the same content there.
 * @param config sha256 (hex) of hopgate.yaml
 */
export function readTrustRecord(root: string, config: string | null, env: Env): TrustRecord | null {
  const own = readTrust(root, env);
  if (own?.config === config) return own;
  const same = otherWorkTrees(root)
    .map((other) => readTrust(other, env))
    .find((record) => record?.config === config);
  return same ?? own;
}

/**
 * The folder, now missing, in which the operator trusted this content of hopgate.yaml last: the repository was probably
 * moved from there. Its sessions and trust belong to that path. Null if there is none.
 */
export function formerRootOf(root: string, env: Env): string | null {
  const bytes = valueOr(() => readProjectFile(root), null);
  if (bytes === null) return null;
  const config = hash('sha256', bytes);
  const home = userStateFolder(env);
  const missing = listFileNames(home)
    .map((name) => fieldsOf(parseJson(readTextOrEmpty(fileOf(join(home, name))))) as Partial<TrustRecord>)
    .filter((record) => record.config === config && record.root && !existsSync(record.root))
    .sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? 1 : -1));
  return missing[0]?.root ?? null;
}

export function writeTrustRecord(record: TrustRecord, env: Env): void {
  const file = fileOf(ensureStateDir(record.root, env));
  writeAtomically(file, `${JSON.stringify(record, null, 2)}\n`);
}

/** Deletes the trust record of this root; false if there was none. */
export function revokeTrust(root: string, env: Env): boolean {
  const had = readTrust(root, env) !== null;
  const file = fileOf(stateDir(root, env));
  if (existsSync(file)) rmSync(file);
  return had;
}

/** The warning that a new session ignores most of hopgate.yaml; null if the file is trusted or missing. */
export function untrustedConfigWarning(root: string, env: Env): string | null {
  const bytes = valueOr(() => readProjectFile(root), null);
  if (bytes === null) return null;
  const config = hash('sha256', bytes);
  const trusted = readTrustRecord(root, config, env)?.config;
  if (trusted === config) return null;
  const why = trusted === undefined ? 'is not trusted' : 'differs from the file that you trusted';
  return `${join(root, CONFIG_FILE)} ${why}, so this session uses the default specs and only the restrictions of the file; read it, then run "hopgate trust"`;
}
