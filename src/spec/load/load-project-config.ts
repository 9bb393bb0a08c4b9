import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile, UnreadableFile } from '../../base/read-file.ts';
import { SpecError } from '../check/spec-problem.ts';
import { MAX_AUTHORED_FILE_BYTES } from '../policy/limits.ts';
import { DEFAULT_PROJECT_CONFIG, parseProjectConfig, parseStatedConfig } from '../resolve/parse-project-config.ts';
import type { ProjectConfig } from '../types.ts';

/**
 * Loads `hopgate.yaml` from a repository's root.
 * @returns `hash` is sha256 (hex) of the file's bytes; without a file the defaults, `found: false` and null
 * @throws {@link SpecError} with all problems of the file
 */
export async function loadProjectConfig(
  root: string,
): Promise<{ config: ProjectConfig; found: boolean; hash: string | null }> {
  const file = join(root, 'hopgate.yaml');
  const bytes = readProjectFile(root);
  if (bytes === null) return { config: DEFAULT_PROJECT_CONFIG, found: false, hash: null };
  const parsed = parseProjectConfig(bytes.toString('utf8'), file);
  if (!parsed.ok) throw new SpecError(parsed.problems);
  return { config: parsed.config, found: true, hash: createHash('sha256').update(bytes).digest('hex') };
}

/** The parts of a config that a program states. @throws {@link SpecError} with all its problems */
export function assertStatedConfig(config: unknown): Partial<ProjectConfig> {
  const parsed = parseStatedConfig(config);
  if (!parsed.ok) throw new SpecError(parsed.problems);
  return parsed.config;
}

/**
 * The bytes of a root's `hopgate.yaml`; null if there is none.
 * @throws {@link SpecError} if it is not a regular file, too large, or a link that leads out of the root
 */
export function readProjectFile(root: string): Buffer | null {
  const file = join(root, 'hopgate.yaml');
  try {
    return readRegularFile(file, MAX_AUTHORED_FILE_BYTES, realpathSync(root));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    if (!(error instanceof UnreadableFile)) throw error;
    throw new SpecError([{ file, path: '', message: error.problem, suggestion: error.remedy }]);
  }
}
