import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { runCli } from '../../src/cli/program.ts';
import { putCompiledClient } from '../compiled-client.ts';
import { gitScript } from '../git-script.ts';

/** A folder of its own for one test, with files in it. */
export function folder(files: { readonly [path: string]: string } = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-cli-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  put(root, files);
  return root;
}

export function put(root: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Makes a folder a git repository with a first commit of everything in it. */
export function commitAll(root: string): void {
  gitScript(root, 't', 'git init -q -b main; git add --all; git commit -q --allow-empty --message=first');
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Standard output and standard error, as a terminal shows them. */
  readonly all: string;
}

export interface Machine {
  /** The root, which commands run in. */
  readonly root: string;
  readonly env: { readonly [name: string]: string | undefined };
  run(...argv: string[]): Promise<Ran>;
  /** Runs with a terminal at which `keys` are typed. */
  type(keys: string, ...argv: string[]): Promise<Ran>;
  /** Runs with a text on stdin, without a terminal. */
  feed(text: string, ...argv: string[]): Promise<Ran>;
}

/** The commands that install the hook client. */
const WITH_HOOKS = ['claude', 'daemon', 'install'];

/** A repository and a state folder of their own, and the command line in-process over them. */
export function machine(
  files: { readonly [path: string]: string } = {},
  env: { readonly [name: string]: string | undefined } = {},
): Machine {
  const root = folder(files);
  const state = folder();
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  // Without the cache, a spawned command compiles all of its modules again.
  const world = { PATH, NODE_COMPILE_CACHE, HOME: state, XDG_STATE_HOME: state, ...env };
  // The key of kept states belongs to the user of this process, and spawned commands get `world`.
  vi.stubEnv('XDG_STATE_HOME', world.XDG_STATE_HOME);
  onTestFinished(() => void vi.unstubAllEnvs());
  const run = async (argv: readonly string[], keys: string | null, fed = ''): Promise<Ran> => {
    const all: string[] = [];
    const out: string[] = [];
    const err: string[] = [];
    const typed = new PassThrough();
    const io: Io = {
      stdout: sink(out, all),
      stderr: sink(err, all),
      stdin: keys === null ? Readable.from(fed === '' ? [] : [fed]) : typed,
      isTty: keys !== null,
      env: world,
      cwd: root,
      color: false,
      json: false,
      exitCode: 0,
    };
    if (WITH_HOOKS.includes(argv[0] ?? '') && world.XDG_STATE_HOME) putCompiledClient(world.XDG_STATE_HOME);
    if (keys !== null) typed.write(keys);
    const code = await runCli(argv, io);
    return { code, out: out.join(''), err: err.join(''), all: all.join('') };
  };
  return {
    root,
    env: world,
    run: (...argv) => run(argv, null),
    type: (keys, ...argv) => run(argv, keys),
    feed: (text, ...argv) => run(argv, null, text),
  };
}

export const sink = (...lists: string[][]): Writable =>
  new Writable({
    write(chunk, _encoding, done) {
      for (const list of lists) list.push(String(chunk));
      done();
    },
  });

/** The command line as a process of its own. */
export function spawnCli(
  argv: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly node?: string } = {},
): Promise<Ran> {
  const main = resolve('src/cli/main.ts');
  return new Promise((done) => {
    execFile(
      options.node ?? process.execPath,
      [main, ...argv],
      { cwd: options.cwd, env: options.env ?? process.env },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code), out, err, all: out + err }),
    );
  });
}
