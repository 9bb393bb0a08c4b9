import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toBody } from '../../src/evidence/bodies.ts';
import type { Entry } from '../../src/evidence/entry.ts';
import type { Approver } from '../../src/ports/approver.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { ToolBackend } from '../../src/ports/tool-backend.ts';
import { createSession, resumeSession } from '../../src/session/create-session.ts';
import type { Session } from '../../src/session/session.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { Json, ProjectConfig, SpecSet } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { folderOfRun } from '../run-folder.ts';

export { fixtureSpecs };

/** A clock that moves only when it is set. */
export class TestClock {
  time = Date.parse('2026-01-01T00:00:00.000Z');
  now(): number {
    return this.time;
  }
  advance(minutes: number): void {
    this.time += minutes * 60_000;
  }
}

export const yes: Approver = { via: 'approver', approve: async () => ({ by: 'operator' }) };
export const no: Approver = { via: 'approver', approve: async () => null };

/** An approver that gives its answers in turn, the last one from then on. */
export function inTurn(...answers: Awaited<ReturnType<Approver['approve']>>[]): Approver {
  let next = 0;
  return { via: 'approver', approve: async () => answers[Math.min(next++, answers.length - 1)] ?? null };
}

export const testRun = (verdict: 'pass' | 'fail' | 'error', more: { [key: string]: Json } = {}): Json => ({
  command: ['npm', 'test'],
  narrowed: false,
  verdict,
  exit: verdict === 'fail' ? 1 : 0,
  report: { format: 'tap', total: verdict === 'error' ? 0 : 3, passed: 3, failed: 0, skipped: 0, failures: [] },
  ...more,
});

export interface Reopening {
  readonly approver?: Approver | null;
  readonly backends?: readonly ToolBackend[];
  readonly onEntry?: (entry: Entry) => void;
}

export interface Stage {
  readonly session: Session;
  readonly store: EvidenceStore;
  readonly clock: TestClock;
  readonly backend: ReturnType<typeof scriptedBackend>;
  readonly root: string;
  /** Opens the same session once more, as another process would. */
  reopen(options?: Reopening): Promise<Session>;
}

export interface StageOptions {
  readonly specs?: SpecSet;
  readonly config?: Partial<ProjectConfig>;
  readonly approver?: Approver | null;
  readonly results?: Parameters<typeof scriptedBackend>[0];
  readonly backends?: readonly ToolBackend[];
  readonly store?: EvidenceStore;
  readonly clock?: TestClock;
  readonly agent?: string;
  readonly revokedBy?: (grant: string) => string | null;
  readonly onEntry?: (entry: Entry) => void;
}

/** A repository that says how it is tested and shipped. */
export const CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  test: [{ run: ['npm', 'test', '{args}'], report: 'tap' }],
  deploy: { staging: { run: ['./deploy.sh', 'staging'], network: false } },
  git: { remote: 'origin', branch: 'main' },
  web: { allow: ['docs.example.com'] },
};

/** A session over the memory store with a scripted backend that changes `src/a.ts` when `edit` is called. */
export async function stage(options: StageOptions = {}): Promise<Stage> {
  const clock = options.clock ?? new TestClock();
  const store = options.store ?? memoryStore({ clock });
  const specs = options.specs ?? fixtureSpecs;
  const edited = changed('src/a.ts');
  const backend = scriptedBackend({
    ...Object.fromEntries(Object.keys(specs.tools).map((id) => [id, { ok: true } as Json])),
    edit: edited,
    write: edited,
    read: { path: 'src/a.ts', text: 'a' },
    'bash-test': testRun('pass'),
    ...options.results,
  });
  const root = temporaryTree({ 'src/a.ts': 'a\n' });
  let next = 0;
  const parts = {
    store,
    clock,
    ids: { next: (kind: string) => `${kind}-${options.agent ?? 'a'}-${next++}` },
    backends: options.backends ?? [backend],
    approver: options.approver === undefined ? yes : options.approver,
    ...(options.revokedBy ? { revokedBy: options.revokedBy } : {}),
  };
  const session = await createSession(
    { ...parts, ...(options.onEntry ? { onEntry: options.onEntry } : {}) },
    {
      specs,
      config: { ...CONFIG, ...options.config },
      agent: options.agent ?? 'tester',
      root,
      unsafeNoSandbox: false,
      version: '0.0.0',
    },
  );
  const reopen: Stage['reopen'] = (other = {}) => resumeSession({ ...parts, ...other }, session.id);
  return { session, store, clock, backend, root, reopen };
}

/** A report of a tool that changed these files. */
export const changed = (...paths: string[]) => ({
  outcome: { status: 'ok' as const, result: { path: paths[0] ?? null } },
  effects: paths.map((path) => ({ path, op: 'modify' as const, after: 'f'.repeat(64) })),
});

const folder = folderOfRun();

/** A folder with these files, by its real path. It exists until the end of the test run. */
export function temporaryTree(files: { readonly [path: string]: string } = {}): string {
  const root = mkdtempSync(join(folder, 'tree-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** A spec set from its files by name; gate, tools and scopes are given or absent. */
export function specsOf(files: { readonly [file: string]: string }): SpecSet {
  const parsed = parseSpecSet(Object.entries(files).map(([file, text]) => ({ file, text })));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems, null, 2));
  return parsed.specs;
}

/** The result of a call that has to be let through. */
export async function must<T extends { readonly ok: boolean }>(call: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const result = await call;
  if (!result.ok) throw new Error(JSON.stringify(result, null, 2));
  return result as Extract<T, { ok: true }>;
}

/** The denial of a call that has to be refused. */
export async function denied<T extends { readonly ok: boolean }>(call: Promise<T>): Promise<Extract<T, { ok: false }>> {
  const result = await call;
  if (result.ok) throw new Error(`it was allowed: ${JSON.stringify(result, null, 2)}`);
  return result as Extract<T, { ok: false }>;
}

/** The entries' bodies, in order. */
export const bodies = async (session: Session) =>
  (await session.evidence()).map(({ body }) => {
    const known = toBody(body);
    if (!known) throw new Error(`not a body of ours: ${JSON.stringify(body)}`);
    return known;
  });

/** The events of the entries, in order. */
export const events = async (session: Session) => (await bodies(session)).map(({ event }) => event);

export type Place = 'explore' | 'edit' | 'test' | 'deploy' | 'reflect';

/** Moves a session over the fixture specs to a peripheral, in EXECUTE. Throws if a move is refused. */
export async function lead(session: Session, to: Place): Promise<void> {
  await must(session.start('explore'));
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.setMode({ to: 'execute' }));
  if (to === 'explore') return;
  await must(session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found it' }));
  if (to === 'edit') return;
  await must(session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
  await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'changed', fruit: { 'commit-message': 'Change a' } }));
  if (to === 'test') return;
  await must(session.step({ tool: 'bash-test' }));
  if (to === 'reflect') return void (await must(session.hop({ to, exit: 'hop-reflect', reason: 'enough' })));
  await must(session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }));
}
