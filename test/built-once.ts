import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOfRun } from './run-folder.ts';

/**
 * A folder with repositories that is built once in each process and copied for each test: runs of git take longer than
 * most tests. The addresses of remotes in the configurations lead to the copy.
 */
export function builtOnce(build: (folder: string) => void): (to: string) => void {
  let built: string | null = null;
  return (to) => {
    if (built === null) {
      const folder = folderOfRun();
      build(folder);
      built = folder;
    }
    cpSync(built, to, { recursive: true });
    for (const name of globSync('*/.git/config', { cwd: to })) {
      const config = join(to, name);
      writeFileSync(config, readFileSync(config, 'utf8').replaceAll(built, to));
    }
  };
}
