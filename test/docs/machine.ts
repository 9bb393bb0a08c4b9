import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtOnce } from '../built-once.ts';
import { putCompiledClient } from '../compiled-client.ts';
import { blocksOf } from './blocks.ts';
import { SOURCES } from './sources.ts';

const CHECKOUT = process.cwd();
const MAIN = resolve('src/cli/main.ts');

/** Packages of the reader's repository, by their place in it. */
const LINKED: { readonly [path: string]: string } = {
  'node_modules/hopgate': CHECKOUT,
  'node_modules/@modelcontextprotocol/server-filesystem': resolve(
    'node_modules/@modelcontextprotocol/server-filesystem',
  ),
};

/** The repository that a reader has: a shop with a test, a remote, a secret, and hopgate among its packages. */
const FILES: { readonly [path: string]: string } = {
  'package.json': '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/cart.js': `// TODO: discounts
export const total = (items) => items.reduce((sum, item) => sum + item.price, 0);
`,
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('the total of a cart', () => assert.equal(total([{ price: 2 }, { price: 3 }]), 5));
`,
  'docs/cart.md': '# The cart\n',
  '.env': 'TOKEN=not-for-agents\n',
  '.gitignore': 'node_modules/\n.env\n',
};

/**
 * `hopgate` on the PATH. The word SESSION is replaced by the id of the newest session of the repository, REQUEST by
 * that of the oldest request.
 */
const LAUNCHER = `#!${process.execPath}
const { Writable } = require('node:stream');
const argv = process.argv.slice(2);
const at = argv.indexOf('--root');
async function ask(...words) {
  const { runCli } = await import(${JSON.stringify(resolve('src/cli/program.ts'))});
  const { processIo } = await import(${JSON.stringify(resolve('src/cli/io.ts'))});
  let printed = '';
  const stdout = new Writable({ write: (chunk, _, done) => done(void (printed += chunk)) });
  await runCli(words, { ...processIo(), stdout });
  return printed;
}
const WORDS = {
  SESSION: async () => JSON.parse((await ask('sessions', '--json', ...(at < 0 ? [] : argv.slice(at, at + 2)))).split('\\n')[0]).sessionId,
  REQUEST: async () => JSON.parse(await ask('approve', '--json'))[0].id,
};
(async () => {
  const words = [];
  for (const word of argv) words.push(Object.hasOwn(WORDS, word) ? await WORDS[word]() : word);
  process.argv = [process.execPath, ${JSON.stringify(MAIN)}, ...words];
  await import(${JSON.stringify(MAIN)});
})();
`;

/** Programs import hopgate by its name; here that is the sources. What else they import, this repository has. */
const HOOKS = `import { registerHooks } from 'node:module';
const SOURCES = ${JSON.stringify(SOURCES)};
const here = 'file://${CHECKOUT}/package.json';
registerHooks({
  resolve: (name, context, next) => {
    if (Object.hasOwn(SOURCES, name)) return { url: 'file://' + SOURCES[name], format: 'module-typescript', shortCircuit: true };
    const isPackage = /^[@a-z]/.test(name) && !name.includes(':');
    return next(name, isPackage && !context.parentURL?.includes('/node_modules/') ? { ...context, parentURL: here } : context);
  },
});
`;

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly all: string;
}

/** A reader's machine: a repository, a state folder, a shell. */
export interface Machine {
  readonly root: string;
  readonly state: string;
  write(path: string, text: string): void;
  bash(script: string): Promise<Ran>;
  program(file: string): Promise<Ran>;
}

const put = (base: string, path: string, text: string): void => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};

const GIT = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

const copyHome = builtOnce((folder) => {
  const root = join(folder, 'mine');
  const tools = join(folder, 'tools');
  for (const [path, text] of Object.entries({ ...FILES, ...scenarios() })) put(root, path, text);
  put(tools, 'hopgate', LAUNCHER);
  put(tools, 'hooks.mjs', HOOKS);
  chmodSync(join(tools, 'hopgate'), 0o755);
  for (const [path, to] of Object.entries(LINKED)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(to, join(root, path));
  }
  const remote = join(folder, 'remote.git');
  const env = { PATH: process.env['PATH'], HOME: folder, ...GIT };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, stdio: 'pipe' });
  git('init', '--quiet', '--bare', '--initial-branch=main', remote);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Reader');
  git('config', 'user.email', 'reader@example.com');
  git('remote', 'add', 'origin', remote);
  git('add', '--all');
  git('commit', '--quiet', '--message=first');
  git('push', '--quiet', '--set-upstream', 'origin', 'main');
});

export function machine(): Machine {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-docs-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'mine');
  const state = join(folder, 'state');
  const tools = join(folder, 'tools');
  copyHome(folder);
  putCompiledClient(state);
  const env = {
    PATH: `${tools}:${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    XDG_STATE_HOME: state,
    ...GIT,
    NODE_NO_WARNINGS: '1',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  };
  const run = (file: string, args: readonly string[]): Promise<Ran> =>
    new Promise((done) => {
      const child = execFile(file, args, { cwd: root, env, maxBuffer: 16 << 20 }, (error, out, err) =>
        done({ code: error === null ? 0 : Number(error.code), out, all: out + err }),
      );
      child.stdin?.end();
    });
  return {
    root,
    state,
    write: (path, text) => put(root, path, text),
    bash: (script) => run('bash', ['--norc', '-euo', 'pipefail', '-c', script]),
    program: (file) => run(process.execPath, ['--import', `file://${join(tools, 'hooks.mjs')}`, file]),
  };
}

/** The scenario of docs/scenarios.md, which other pages play, too. */
const scenarios = (): { readonly [path: string]: string } =>
  Object.fromEntries(
    blocksOf('docs/scenarios.md', readFileSync('docs/scenarios.md', 'utf8')).flatMap(({ file, lang, text }) =>
      lang === 'yaml' && file === 'mine.yaml' ? [[file, text]] : [],
    ),
  );
