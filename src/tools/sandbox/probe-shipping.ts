import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeTreeMismatch, type TreeToShip } from '../../gate/scope/compare-trees.ts';
import type { CallEnvelope, ToolOutcome } from '../../ports/tool-backend.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../spec/resolve/parse-project-config.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import { gitBackend } from '../git/git-backend.ts';
import { observeTree } from '../tree/observe-tree.ts';
import type { ProbeResult } from './probe-result.ts';
import type { Sandbox } from './sandbox.ts';

const CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  git: { remote: 'origin', branch: 'main' },
  commits: { author: 'probe <probe@example.com>' },
};
const SCOPE = { read: 'root', write: [], command: 'deploy', url: 'none' } as const;
const LIMITS = { seconds: 60, outputBytes: 8192 };
const TOOL = { id: 'bash-git', purpose: '', effect: 'act', parameters: [], limits: LIMITS } as const;
const isOwnChange = (path: string) => path === 'src/a';

/** A repository with a remote, in which a session has changed `src/a`. */
class ProbeRepository {
  readonly root: string;
  readonly remote: string;
  readonly elsewhere: string;
  readonly #sandbox: Sandbox;
  #tree: TreeToShip | null = null;

  constructor(sandbox: Sandbox, folder: string) {
    this.#sandbox = sandbox;
    [this.root, this.remote, this.elsewhere] = ['shop', 'remote', 'elsewhere'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(join(this.root, 'src'), { recursive: true });
    for (const bare of [this.remote, this.elsewhere]) this.git('init', '-q', '--bare', '-b', 'main', bare);
    this.git('init', '-q', '-b', 'main');
    for (const name of ['a', 'b']) this.put(name, 'first');
    this.git('add', '.');
    this.git('commit', '-q', '-m', 'first');
    this.git('remote', 'add', 'origin', this.remote);
    this.git('push', '-q', 'origin', 'main');
    this.put('a', 'changed by the session');
  }

  put(name: string, text: string): void {
    writeFileSync(join(this.root, 'src', name), text);
  }

  git(...args: readonly string[]): string {
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    const words = ['-C', this.root, '-c', 'user.name=probe', '-c', 'user.email=probe@example.com', ...args];
    return execFileSync('git', words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  async approve(): Promise<void> {
    const tree = await this.#observe();
    if ('problem' in tree) throw new Error(tree.problem);
    this.#tree = tree;
  }

  /** Runs commands of git in turn; returns the outcome of the last. */
  async run(...lines: readonly string[]): Promise<ToolOutcome> {
    let outcome: ToolOutcome = { status: 'ok', result: null };
    const shipping = { isOwnChange, tree: this.#tree, message: 'change a', agent: '' };
    const envelope: CallEnvelope = {
      ...this.#place,
      peripheral: 'deploy',
      scope: SCOPE,
      readableFiles: null,
      shipping,
    };
    for (const sub of lines) {
      const { signal } = new AbortController();
      const call = { tool: TOOL, args: { sub }, envelope, sessionId: 'probe', signal } as const;
      ({ outcome } = await gitBackend(this.#sandbox).run(call));
    }
    return outcome;
  }

  /** Returns how the present tree differs from the approved one; null if it does not. */
  async mismatch(): Promise<string | null> {
    return describeTreeMismatch(this.#tree, await this.#observe());
  }

  get #place() {
    return { root: this.root, config: CONFIG, unsafeNoSandbox: false };
  }

  #observe() {
    return observeTree(this.#sandbox, this.#place, new AbortController().signal, isOwnChange);
  }
}

const refusal = (outcome: ToolOutcome): string | null =>
  outcome.status === 'failed' && outcome.code === 'not-what-was-approved' ? outcome.message : null;

const ATTEMPTS: { readonly [name: string]: (shop: ProbeRepository) => Promise<string | null> } = {
  'ship a change that was made after the pass': async (shop) => {
    await shop.approve();
    shop.put('b', 'changed by another');
    return shop.mismatch();
  },
  'commit other content than was approved': async (shop) => {
    await shop.approve();
    shop.put('a', 'changed by another');
    return refusal(await shop.run('add -A', 'commit'));
  },
  'commit what others changed and staged': async (shop) => {
    shop.put('b', 'changed by another');
    shop.git('add', 'src/b');
    await shop.approve();
    await shop.run('add -A', 'commit');
    const paths = shop.git('diff', '--name-only', 'HEAD~1', 'HEAD');
    return paths === 'src/a' ? 'the commit holds only the change of the session' : null;
  },
  'commit on a branch that has moved': async (shop) => {
    await shop.approve();
    shop.git('commit', '-q', '--allow-empty', '-m', 'by another');
    return refusal(await shop.run('add -A', 'commit'));
  },
  'push a commit that was not approved': async (shop) => {
    await shop.approve();
    await shop.run('add -A', 'commit');
    shop.git('commit', '-q', '--allow-empty', '-m', 'by another');
    return refusal(await shop.run('push'));
  },
  'push to an address that was not approved': async (shop) => {
    await shop.approve();
    await shop.run('add -A', 'commit');
    shop.git('remote', 'set-url', 'origin', shop.elsewhere);
    return refusal(await shop.run('push'));
  },
};

/** Tries to ship untested and unapproved content in real repositories, one for each attempt, in `folder`. */
export async function probeShipping(sandbox: Sandbox, folder: string): Promise<ProbeResult[]> {
  const tries = Object.entries(ATTEMPTS).map(async ([name, attempt], at): Promise<ProbeResult> => {
    const layout = 'git-commit';
    try {
      const why = await attempt(new ProbeRepository(sandbox, join(folder, `ship-${at}`)));
      return { layout, name, stopped: why !== null, detail: why ?? 'it got through' };
    } catch (error) {
      return { layout, name, stopped: false, detail: `it could not be tried: ${(error as Error).message}` };
    }
  });
  return Promise.all(tries);
}
