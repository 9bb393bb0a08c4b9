import { execFileSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { folderOfRun } from '../run-folder.ts';

/** The path of the built script of the page. The first test file that needs it builds it for the whole test run. */
export function builtPage(): string {
  const file = join(inject('runFolder'), 'page.js');
  if (!existsSync(file)) {
    const folder = folderOfRun();
    const argv = ['node_modules/tsdown/dist/run.mjs', '--filter', 'page', '--out-dir', folder];
    execFileSync(process.execPath, argv, { stdio: 'pipe' });
    renameSync(join(folder, 'page.js'), file);
  }
  return file;
}
