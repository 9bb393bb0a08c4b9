import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isDeep } from '../depth.ts';
import { blocksOf, pages } from './blocks.ts';

const COPIED = ['src', 'specs', 'machines', 'test', 'docs', 'README.md', 'package.json'];
const CONFIGS = ['tsconfig.json', 'tsdown.config.ts', 'vitest.config.ts', 'biome.json'];
const extending = pages().filter((page) => page.startsWith('docs/extend/'));

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-extend-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the checkout that a page may change. Each has the same place, where Node finds what it compiled before. */
function copyOfCheckout(): string {
  const root = join(folder, 'hopgate');
  rmSync(root, { recursive: true, force: true });
  for (const path of [...COPIED, ...CONFIGS]) cpSync(path, join(root, path), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  return root;
}

/** Runs one line of a page with the programs of node_modules. */
const run = (cwd: string, line: string): Promise<{ readonly failed: boolean; readonly out: string }> =>
  new Promise((done) => {
    const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, HOPGATE_DEEP: ____, ...rest } = process.env;
    const PATH = `${resolve('node_modules/.bin')}:${dirname(process.execPath)}:${process.env['PATH']}`;
    const command = line
      .replace(/^npx /, '')
      .replace(/^npm run hopgate -- /, 'node src/cli/main.ts ')
      // More threads check many types more than once. The pages change few files of the same checkout.
      .replace(/^tsc /, 'tsc --singleThreaded --incremental --tsBuildInfoFile ../types.tsbuildinfo ');
    const env = { ...rest, PATH, NO_COLOR: '1', NODE_NO_WARNINGS: '1' };
    execFile('bash', ['--norc', '-c', command], { cwd, env, maxBuffer: 16 << 20 }, (error, out, err) =>
      done({ failed: error !== null, out: out + err }),
    );
  });

// A line with the comment `# fails` must fail; all other lines must succeed. Each line of the `text` block after them
// must be in what the last command printed.
describe.runIf(isDeep).each(extending)('%s', (page) => {
  it('has steps that lead to the result that it states', async () => {
    const root = copyOfCheckout();
    let printed = '';
    for (const { lang, file, text, line } of blocksOf(page)) {
      const at = `${page}:${line}`;
      if (lang === 'sh')
        for (const command of text.split('\n').filter((each) => each !== '')) {
          const { failed, out } = await run(root, command);
          expect(failed, `${at} ${command}\n${out}`).toBe(/# fails\b/.test(command));
          printed = out;
        }
      else if (lang === 'text') for (const each of text.trim().split('\n')) expect(printed, at).toContain(each.trim());
      else if (file !== null) {
        mkdirSync(dirname(join(root, file)), { recursive: true });
        writeFileSync(join(root, file), text);
      }
    }
  });
});

it('docs/extend has a page for each task', () => {
  expect(extending.map((page) => page.slice('docs/extend/'.length))).toEqual([
    'README.md',
    'adapter.md',
    'approval.md',
    'argument-role.md',
    'domain.md',
    'evidence-store.md',
    'hook-client.md',
    'peripheral.md',
    'tool.md',
  ]);
});
