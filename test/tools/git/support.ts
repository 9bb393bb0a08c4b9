import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { ToolCall, ToolReport } from '../../../src/ports/tool-backend.ts';
import type { Json, ProjectConfig } from '../../../src/spec/types.ts';
import { gitBackend } from '../../../src/tools/git/git-backend.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { builtOnce } from '../../built-once.ts';
import { gitScript, INIT_WITH_REMOTE } from '../../git-script.ts';

// Real repositories on a busy machine; no result depends on time.
vi.setConfig({ testTimeout: 120_000 });

/** A sandbox that is unavailable. */
export const noSandbox: Sandbox = {
  availability: { ok: false, reason: 'bubblewrap is not installed', remedy: 'Install bubblewrap.' },
  run: () => Promise.reject(new Error('there is no sandbox')),
};

export const config = (changes: Partial<ProjectConfig> = {}): ProjectConfig => ({
  specs: 'default',
  scopes: {},
  test: [],
  deploy: {},
  git: { remote: 'origin', branch: 'main' },
  web: { allow: [] },
  mask: ['.env'],
  toolchains: [],
  ...changes,
});

export interface CallOptions {
  readonly config?: Partial<ProjectConfig>;
  readonly unsafeNoSandbox?: boolean;
  readonly seconds?: number;
  readonly outputBytes?: number;
  readonly signal?: AbortSignal;
}

export function gitCall(root: string, args: { readonly [name: string]: Json }, options: CallOptions = {}): ToolCall {
  return {
    tool: {
      id: 'bash-git',
      purpose: 'git',
      effect: 'act',
      parameters: [],
      limits: { seconds: options.seconds ?? 30, outputBytes: options.outputBytes ?? 65_536 },
    },
    args,
    envelope: {
      root,
      peripheral: 'deploy',
      scope: { read: 'root', write: [], command: 'deploy', url: 'none' },
      readableFiles: null,
      config: config(options.config),
      unsafeNoSandbox: options.unsafeNoSandbox ?? false,
    },
    sessionId: 'session-1',
    signal: options.signal ?? new AbortController().signal,
  };
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs git as the operator, to prepare and to inspect, never as the subject of a test. */
export function git(cwd: string, ...args: string[]): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const identity = [
    '-c',
    'user.name=Operator',
    '-c',
    'user.email=operator@example.com',
    '-c',
    'protocol.file.allow=always',
  ];
  return execFileSync('git', [...identity, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

export function put(root: string, path: string, content: string, mode?: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  if (mode !== undefined) chmodSync(join(root, path), mode);
}

const copyRepository = builtOnce((folder) => {
  const root = join(folder, 'work');
  put(root, 'src/a.txt', 'one\n');
  put(root, 'README.md', 'read me\n');
  gitScript(root, 'Operator', INIT_WITH_REMOTE, join(folder, 'remote.git'));
});

/** A repository with one commit on main, and a bare remote that has it. */
export function repository(): { readonly folder: string; readonly root: string; readonly remote: string } {
  const folder = temporaryFolder();
  copyRepository(folder);
  return { folder, root: join(folder, 'work'), remote: join(folder, 'remote.git') };
}

/** Calls bash-git and returns its report. */
export function runner(sandbox: Sandbox, root: string, defaults: CallOptions = {}) {
  const backend = gitBackend(sandbox);
  return (args: { readonly [name: string]: Json }, options: CallOptions = {}): Promise<ToolReport> =>
    backend.run(gitCall(root, args, { ...defaults, ...options }));
}

/** The result of a report that has to be ok. */
export function resultOf(report: ToolReport): { readonly [field: string]: Json } {
  if (report.outcome.status !== 'ok') throw new Error(JSON.stringify(report.outcome));
  return report.outcome.result as { [field: string]: Json };
}
