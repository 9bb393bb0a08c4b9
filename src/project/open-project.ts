import { join } from 'node:path';
import type { Env } from '../base/user-folders.ts';
import { loadProjectConfig } from '../spec/load/load-project-config.ts';
import { defaultSpecsFolder, loadSpecs } from '../spec/load/load-specs.ts';
import type { ProjectConfig, SpecSet } from '../spec/types.ts';
import { narrowConfig } from './narrow-config.ts';
import { ProjectError } from './project-error.ts';
import { CONFIG_FILE, realRepositoryRoot } from './repository-root.ts';
import { stateDir } from './state-dir.ts';
import { readTrustRecord } from './trust-record.ts';

/** An opened repository: the trusted part of its configuration, and its spec set. */
export interface OpenedProject {
  /** Absolute real path. */
  readonly root: string;
  /** The effective configuration: all of hopgate.yaml if it is trusted, else only its restrictions. */
  readonly config: ProjectConfig;
  /** True if the operator trusts the current hopgate.yaml, or if there is none. */
  readonly trusted: boolean;
  /** True if parts of hopgate.yaml were ignored because it is not trusted. */
  readonly narrowed: boolean;
  /** The ignored keys: `test`, `scopes.edit`, … */
  readonly ignored: readonly string[];
  /** The folder with hopgate's state of the repository; it may not exist yet. */
  readonly stateDir: string;
  readonly specs: SpecSet;
  readonly specsFolder: string;
  /** Absolute path of hopgate.yaml; null if there is none. */
  readonly configFile: string | null;
}

export const specsFolder = (root: string, config: ProjectConfig): string =>
  config.specs === 'default' ? defaultSpecsFolder() : join(root, config.specs);

/**
 * Opens a repository: the part of its hopgate.yaml that the operator trusts, and its spec set.
 * @throws SpecError: hopgate.yaml or the specs have problems. ProjectError `specs-changed`: the repository's own spec
 *   folder differs from the trusted one.
 */
export async function openProject(root: string, env: Env): Promise<OpenedProject> {
  const real = realRepositoryRoot(root);
  const file = join(real, CONFIG_FILE);
  const { config: stated, hash } = await loadProjectConfig(real);
  const record = readTrustRecord(real, hash, env);
  const trusted = hash === null || record?.config === hash;
  const base = { root: real, trusted, stateDir: stateDir(real, env), configFile: hash === null ? null : file };
  if (!trusted) {
    const folder = defaultSpecsFolder();
    const specs = await loadSpecs(folder);
    const { config, ignored } = narrowConfig(stated, specs);
    return { ...base, config, narrowed: ignored.length > 0, ignored, specs, specsFolder: folder };
  }
  const folder = specsFolder(real, stated);
  const specs = await loadSpecs(folder);
  if (stated.specs !== 'default' && record?.specs?.hash !== specs.hash)
    throw new ProjectError('specs-changed', `the spec set in ${folder} is not the one that was trusted`);
  return { ...base, config: stated, narrowed: false, ignored: [], specs, specsFolder: folder };
}
