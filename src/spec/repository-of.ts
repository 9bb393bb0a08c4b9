import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The repository that a folder is of: the nearest folder with a hopgate.yaml, from itself up to the root of its git working tree. Where there is
 * none, and outside of git, the folder itself. So what the operator has set up holds in whichever folder of it a program is started.
 *
 * @param folder absolute real path
 */
export function repositoryOf(folder: string): string {
  let configured: string | null = null;
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'hopgate.yaml'))) configured ??= at;
    if (existsSync(join(at, '.git'))) return configured ?? folder;
    if (at === dirname(at)) return folder; // outside of git, a file further up may be anybody's
  }
}
