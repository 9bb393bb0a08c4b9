import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Env, userStateFolder } from '../base/user-folders.ts';
import { valueOr } from '../base/value-or.ts';

/** The folder that holds hopgate's package.json. */
export function packageFolder(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  throw new Error('hopgate cannot find its package.json; install it again');
}

/** The file that Node runs for hooks, run tickets and the daemon: the built one, or the source in a checkout. */
export function commandEntryFile(): string {
  const fromSource = import.meta.filename.endsWith('.ts');
  return join(
    packageFolder(),
    ...(fromSource ? ['src', 'daemon', 'hook', 'hook-main.ts'] : ['dist', 'hook', 'main.cjs']),
  );
}

/** The folder of the compile cache of Node for hopgate's programs. Only this user can write it. */
export const compileCacheFolder = (env: Env): string => join(userStateFolder(env), 'compile-cache');

/**
 * Identifies the installed build by the text of the entry file, which contains the hashes of the files that it loads;
 * null if it was removed. Its time and size are not used, because packages are often unpacked with the same time.
 */
export const readInstalledBuild = (): string | null => valueOr(() => readFileSync(commandEntryFile(), 'utf8'), null);
