import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const urlOf = (path: string) => new URL(`../../src/${path}`, import.meta.url).href;

/** Runs a search when no more files can be opened, and prints the code of its error. */
const SCRIPT = `
import { openSync } from 'node:fs';
import { runRipgrep } from '${urlOf('tools/workspace/ripgrep.ts')}';
const search = () => runRipgrep('/', ['x'], '/dev/null', '\\n', { seconds: 9, signal: AbortSignal.timeout(9999) }, () => true);
await search();
try { for (;;) openSync('/dev/null'); } catch {}
await search().catch((error) => process._rawDebug(error.code));
`;

it('a program that cannot be started at the limit of open files is an error of its call, and ends no process', () => {
  const words = ['-c', 'ulimit -n 400; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', SCRIPT];
  const { status, stderr } = spawnSync('/bin/sh', words, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'EMFILE\n' });
});
