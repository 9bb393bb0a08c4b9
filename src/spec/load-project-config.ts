import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SpecError } from './issues.ts';
import { DEFAULT_PROJECT_CONFIG, parseProjectConfig } from './parse-project-config.ts';
import type { ProjectConfig } from './types.ts';

export { DEFAULT_PROJECT_CONFIG, parseProjectConfig } from './parse-project-config.ts';

/**
 * Loads `hopgate.yaml` from a repository's root.
 *
 * @returns `hash` is sha256 (hex) of the file's bytes; without a file the defaults, `found: false` and null
 * @throws {@link SpecError} with all problems of the file
 */
export async function loadProjectConfig(
  root: string,
): Promise<{ config: ProjectConfig; found: boolean; hash: string | null }> {
  const file = join(root, 'hopgate.yaml');
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (bytes === null) return { config: DEFAULT_PROJECT_CONFIG, found: false, hash: null };
  const parsed = parseProjectConfig(bytes.toString('utf8'), file);
  if (!parsed.ok) throw new SpecError(parsed.issues);
  return { config: parsed.config, found: true, hash: createHash('sha256').update(bytes).digest('hex') };
}
