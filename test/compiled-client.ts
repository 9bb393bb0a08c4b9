import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { installLauncher } from '../src/daemon/hook/launcher.ts';

/**
 * Puts the compiled hook client into a state folder, where hopgate finds it instead of compiling it. The test run
 * compiles it once: the C compiler takes longer than most tests.
 */
export function putCompiledClient(stateHome: string): void {
  const state = join(inject('runFolder'), 'with-client');
  // Compiles nothing if the client is there already.
  installLauncher({ XDG_STATE_HOME: state, HOME: state, PATH: process.env['PATH'] });
  const compiled = join(state, 'hopgate/bin');
  const bin = join(stateHome, 'hopgate/bin');
  mkdirSync(bin, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(compiled))
    if (/^hook-client-\w+$/.test(name)) copyFileSync(join(compiled, name), join(bin, name));
}
