import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectConfig } from '../../spec/types.ts';
import { createProjectFileReader } from '../detect/project-file-reader.ts';
import { proposeCaches } from '../detect/proposed-programs.ts';
import type { Io } from '../io.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Lists the operator's download caches that tests can use outside of the sandbox but not inside. */
export function diagnoseCaches(root: string, config: ProjectConfig, io: Io): readonly Diagnosis[] {
  const home = io.env['HOME'];
  if (config.test.length === 0 || home === undefined) return [];
  const tree = createProjectFileReader(root);
  const read = (config.cache ?? []).filter((each) => each.read).map(({ folder }) => folder.replace(/(?<!\/)\/+$/, ''));
  const isRead = (folder: string) => read.some((each) => folder === each || folder.startsWith(`${each}/`));
  const modules = proposeCaches(tree, home).flatMap((each) => (typeof each === 'string' ? [] : each.read));
  const diagnoses = modules
    .filter((folder) => !isRead(folder))
    .map((folder) => missing(folder, `Add { read: ${folder} } to cache: in hopgate.yaml, if tests need it.`));
  const isGradle = tree.list('').some((name) => /^build\.gradle(?:\.kts)?$/.test(name));
  return isGradle && existsSync(join(home, '.gradle'))
    ? [
        ...diagnoses,
        missing('~/.gradle', 'Gradle locks files in it, so it cannot be shared; build with modules in the repository.'),
      ]
    : diagnoses;
}

const missing = (folder: string, fix: string): Diagnosis => ({
  name: 'cache',
  status: 'missing',
  found: `the sandbox does not show ${folder}`,
  without: 'A test that needs a module from there fails in the sandbox.',
  fix,
});
