import { join } from 'node:path';
import type { Env } from '../base/user-folders.ts';
import { loadProjectConfig } from '../spec/load/load-project-config.ts';
import { loadSpecs } from '../spec/load/load-specs.ts';
import { specsFolder } from './open-project.ts';
import { ProjectError } from './project-error.ts';
import { CONFIG_FILE } from './repository-root.ts';
import { type TrustRecord, writeTrustRecord } from './trust-record.ts';

/** The record that `hopgate trust` would store now: the hash of hopgate.yaml and of a spec set in the repository. */
export async function currentTrustRecord(root: string): Promise<TrustRecord> {
  const { config, hash } = await loadProjectConfig(root);
  if (hash === null) throw new ProjectError('no-config', `there is no ${join(root, CONFIG_FILE)}`);
  const specs = config.specs === 'default' ? null : await loadSpecs(specsFolder(root, config));
  return {
    version: 1,
    root,
    config: hash,
    specs: specs === null ? null : { folder: config.specs, hash: specs.hash },
    at: new Date().toISOString(),
  };
}

/** Records trust in the current hopgate.yaml. Throws SpecError if it (or its spec folder) has problems. */
export async function trustCurrentConfig(root: string, env: Env): Promise<TrustRecord> {
  const record = await currentTrustRecord(root);
  writeTrustRecord(record, env);
  return record;
}
