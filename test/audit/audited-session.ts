import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Approver } from '../../src/ports/approver.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { ToolBackend, ToolReport } from '../../src/ports/tool-backend.ts';
import { createSession } from '../../src/session/create-session.ts';
import type { Session } from '../../src/session/session.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import type { Json, ProjectConfig, SpecSet } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { fixtureSpecs } from '../fixture-specs.ts';

export const SPECS = fixtureSpecs;

export const CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  test: [{ run: ['npm', 'test', '{args}'], report: 'tap' }],
  deploy: { staging: { run: ['./deploy.sh', 'staging'], network: false } },
  git: { remote: 'origin', branch: 'main' },
  web: { allow: ['docs.example.com'] },
};

export const ROOT = '/repo';

const sha = (char: string): string => char.repeat(64);

/** The successful answer of every tool of the built-in catalogue, with the effects that its sandbox would observe. */
export const answering = (over: { verdict?: 'pass' | 'fail' } = {}): ToolBackend => {
  const path = (args: { readonly [name: string]: Json }): string =>
    posix.relative(ROOT, posix.resolve(ROOT, String(args['path'])));
  return scriptedBackend({
    read: (args) => ({
      outcome: { status: 'ok', result: { path: path(args), text: 'x' } },
      effects: [{ path: path(args), op: 'read' }],
    }),
    glob: () => ({ files: ['src/a.ts', 'src/b.ts'] }),
    grep: () => ({ matches: [{ path: 'src/a.ts', line: 1, text: 'x' }] }),
    'bash-readonly': () => ({ exit: 0, stdout: '' }),
    'web-fetch': (args) => ({
      outcome: { status: 'ok', result: { url: String(args['url']) } },
      effects: [{ path: 'docs.example.com', op: 'connect' }],
    }),
    edit: (args) => ({
      outcome: { status: 'ok', result: { path: path(args), replacements: 1 } },
      effects: [{ path: path(args), op: 'modify', before: sha('a'), after: sha('b') }],
    }),
    write: (args) => ({
      outcome: { status: 'ok', result: { path: path(args) } },
      effects: [{ path: path(args), op: 'create', after: sha('c') }],
    }),
    bash: () => ({
      outcome: { status: 'ok', result: { exit: 0, changed: [{ path: 'src/c.ts', op: 'create' }] } },
      effects: [{ path: 'src/c.ts', op: 'create', after: sha('d') }],
    }),
    'bash-test': ({ command = [] }) => ({
      exit: over.verdict === 'fail' ? 1 : 0,
      verdict: over.verdict ?? 'pass',
      command: ['npm', 'test'],
      ...(words(command).length > 2 ? { narrowed: true, others: ['npm test'] } : { narrowed: false }),
      report: { total: 3, failures: over.verdict === 'fail' ? [{ name: 'adds' }] : [] },
    }),
    'bash-git': (args): ToolReport =>
      args['sub'] === 'commit'
        ? {
            outcome: { status: 'ok', result: { sub: 'commit', exit: 0, committed: true, sha: 'e'.repeat(40) } },
            effects: [{ path: 'refs/heads/main', op: 'ref', before: 'd'.repeat(40), after: 'e'.repeat(40) }],
          }
        : args['sub'] === 'push'
          ? {
              outcome: { status: 'ok', result: { sub: 'push', exit: 0, pushed: true, sha: 'e'.repeat(40) } },
              effects: [{ path: 'refs/heads/main', op: 'ref', before: 'd'.repeat(40), after: 'e'.repeat(40) }],
            }
          : { outcome: { status: 'ok', result: { sub: String(args['sub']), exit: 0 } }, effects: [] },
    'bash-deploy': () => ({ exit: 0 }),
    'musn-log': () => ({ entries: [], next: null, total: 0 }),
    'psr-select': (args) => ({ pattern: args['pattern'] ?? 'p' }),
    'pur-update': (args) => ({ pattern: args['pattern'] ?? 'p', held: args['held'] ?? true }),
  });
};

const words = (command: Json): readonly Json[] => (Array.isArray(command) ? command : String(command).split(' '));

export const yes: Approver = { via: 'approver', approve: async () => ({ by: 'op' }) };

export interface World {
  readonly session: Session;
  readonly store: EvidenceStore;
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
  /** Lets time pass, in milliseconds. */
  pass(ms: number): void;
}

export interface WorldOptions {
  readonly specs?: SpecSet;
  readonly config?: ProjectConfig;
  readonly backend?: ToolBackend;
  readonly backends?: readonly ToolBackend[];
  readonly root?: string;
  readonly approver?: Approver | null;
  readonly unsafeNoSandbox?: boolean;
  readonly agent?: string;
}

/** Parts with a clock of their own, which advances one millisecond at each reading. */
export function parts() {
  let now = Date.parse('2026-01-31T09:00:00.000Z');
  let count = 0;
  const clock = { now: () => now++ };
  const ids = { next: (kind: string) => `${kind}-${count++}` };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { store: memoryStore({ clock }), clock, ids, pass };
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const { store, clock, ids, pass } = parts();
  const { specs = SPECS, config = CONFIG } = options;
  const session = await createSession(
    {
      store,
      clock,
      ids,
      backends: options.backends ?? [options.backend ?? answering()],
      approver: options.approver === undefined ? yes : options.approver,
    },
    {
      specs,
      config,
      agent: options.agent ?? 'agent-1',
      root: options.root ?? ROOT,
      unsafeNoSandbox: options.unsafeNoSandbox ?? false,
      version: '0',
    },
  );
  return { session, store, specs, config, pass };
}

/** The five peripherals one after the other, with denials on the way. */
export async function fivePeripherals({ session }: Pick<World, 'session'>): Promise<void> {
  await session.start('explore');
  await session.step({ tool: 'grep', args: { pattern: 'x' } }); // mode-forbids
  await session.setMode({ to: 'diagnose' });
  await session.step({ tool: 'grep', args: { pattern: 'x', path: 'src' } });
  await session.step({ tool: 'read', args: ['src/a.ts'] });
  await session.step({ tool: 'read', args: ['../../etc/passwd'] }); // out-of-scope
  await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found it' });
  await session.setMode({ to: 'execute', exitCriteria: 'the tests pass', reason: 'fix' });
  await session.step({ tool: 'edit', args: { path: './src/a.ts', old: 'a', new: 'b' } });
  await session.step({ tool: 'write', args: { path: 'specs/x', content: '' } }); // out-of-scope
  await session.step({ tool: 'bash', args: { command: 'make' } });
  await session.hop({ to: 'test', exit: 'hop-test', reason: 'try it', fruit: { 'commit-message': 'Fix it' } });
  await session.hop({ to: 'deploy', exit: 'pass', reason: 'no run yet' }); // exit-not-met
  await session.step({ tool: 'bash-test' });
  await session.hop({ to: 'deploy', exit: 'pass', reason: 'green' });
  await session.step({ tool: 'bash-git', args: { sub: 'commit', args: ['-m', 'Fix it'] } });
  await session.step({ tool: 'bash-git', args: { sub: 'push' } });
  await session.hop({ to: 'reflect', exit: 'deployed', reason: 'shipped' });
  await session.step({ tool: 'musn-log' });
  await session.step({ tool: 'read', args: ['src/a.ts'] });
  await session.stop('done');
  await session.setMode({ to: 'discuss', summary: 'shipped it' });
  await session.close();
}

/** A folder of its own for one test, with files in it. */
export function folder(files: { readonly [path: string]: string } = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-audit-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
