import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { installLauncher } from '../src/daemon/hook/launcher.ts';
import { folderOfRun } from './run-folder.ts';

let compiled: string | null = null;

/**
 * Puts the compiled hook client into a state folder, where hopgate finds it instead of compiling it. A worker compiles it
 * once: the C compiler takes longer than most tests.
 */
export function putCompiledClient(stateHome: string): void {
  if (compiled === null) {
    const state = folderOfRun();
    installLauncher({ XDG_STATE_HOME: state, HOME: state, PATH: process.env['PATH'] });
    compiled = join(state, 'hopgate/bin');
  }
  const bin = join(stateHome, 'hopgate/bin');
  mkdirSync(bin, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(compiled))
    if (name.startsWith('hook-client-')) copyFileSync(join(compiled, name), join(bin, name));
}
