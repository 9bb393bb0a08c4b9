import fc from 'fast-check';
import { expect } from 'vitest';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { ToolReport } from '../../src/ports/tool-backend.ts';
import { createSession, resumeSession } from '../../src/session/create-session.ts';
import type { Session } from '../../src/session/session.ts';
import { SESSION_LEASE_MS } from '../../src/session/session-writer.ts';
import type { Edge, Json, Mode } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { countingIds } from '../../src/testing/doubles/counting-ids.ts';
import { FixedClock } from '../../src/testing/doubles/fixed-clock.ts';
import { MADE_UP_CONFIG } from '../../src/testing/model/model-config.ts';
import { MODES } from '../fixture-specs.ts';
import {
  edgesFrom,
  leave,
  type Model,
  mayGo,
  mayHop,
  mayStart,
  mayStep,
  opening,
  passed,
  specs,
  took,
} from './walk-model.ts';

type Answer = Promise<{ readonly ok: boolean }>;
type Hop = {
  readonly to: string;
  readonly exit: string;
  readonly reason: string;
  readonly fruit?: { [field: string]: Json };
};

/** One fault of an engine: the function answers instead of the session. */
export interface Twist {
  readonly step?: (session: Session, call: { readonly tool: string; readonly args: Json }) => Answer;
  readonly setMode?: (session: Session, to: Mode) => Answer;
  readonly hop?: (session: Session, hop: Hop) => Answer;
  readonly resume?: (session: Session, again: () => Promise<Session>) => Promise<Session>;
  readonly second?: () => Answer;
}

interface Real {
  session: Session;
  readonly store: EvidenceStore;
  readonly clock: FixedClock;
  readonly reopen: () => Promise<Session>;
  approves: boolean;
  verdict: 'pass' | 'fail';
  readonly twist: Twist;
}

/** The total of all walks: counts, and the states and edges of the machines that they covered. */
export class Tally {
  readonly counts = { steps: 0, hops: 0, modes: 0, starts: 0, refused: 0, resumes: 0 };
  readonly peripherals = new Set<string>();
  readonly edges = new Set<string>();
  readonly modes = new Set<string>();

  toString(): string {
    const { steps, hops, modes, starts, refused, resumes } = this.counts;
    return `${steps} lawful steps, ${hops} hops over ${this.edges.size} edges, ${modes} changes of mode, ${starts} starts, in ${this.peripherals.size} peripherals; ${refused} refusals, ${resumes} resumes`;
  }
}

async function open(twist: Twist): Promise<Real> {
  const clock = new FixedClock();
  const store = memoryStore({ clock });
  const real: { approves: boolean; verdict: 'pass' | 'fail' } = { approves: true, verdict: 'pass' };
  const run = async ({ tool }: { tool: { id: string } }): Promise<ToolReport> => {
    if (tool.id === 'bash-test') return { outcome: { status: 'ok', result: testRun(real.verdict) }, effects: [] };
    const effects = tool.id === 'write' ? [{ path: 'src/a.ts', op: 'modify' as const, after: 'f'.repeat(64) }] : [];
    return { outcome: { status: 'ok', result: { seen: true } }, effects };
  };
  const parts = {
    store,
    clock,
    ids: countingIds(),
    backends: [{ name: 'stub', tools: Object.keys(specs.tools), run }],
    approver: { via: 'approver' as const, approve: async () => (real.approves ? { by: 'operator' } : null) },
  };
  const session = await createSession(parts, {
    specs,
    config: MADE_UP_CONFIG,
    agent: 'a',
    root: '/r',
    unsafeNoSandbox: false,
    version: '0',
  });
  return Object.assign(real, { session, store, clock, twist, reopen: () => resumeSession(parts, session.id) });
}

const testRun = (verdict: 'pass' | 'fail'): Json => ({
  command: ['run', 'tests'],
  narrowed: false,
  verdict,
  exit: verdict === 'pass' ? 0 : 1,
  report: { format: 'tap', total: 1, passed: 1, failed: 0, skipped: 0, failures: [] },
});

const stands = (model: Model, { session }: Real) => {
  const { peripheral, mode, steps } = session.state;
  expect({ peripheral, mode, steps }).toEqual({ peripheral: model.peripheral, mode: model.mode, steps: model.steps });
};

type Act = (model: Model, real: Real, tally: Tally) => Promise<void>;

const ARGS: { readonly [tool: string]: Json } = {
  read: { path: 'README.md' },
  grep: { pattern: 'x' },
  write: { path: 'src/a.ts', content: 'x' },
  'bash-test': {},
  'bash-git': { sub: 'status' },
  'musn-log': {},
  'psr-search': { query: 'x' },
  glob: { pattern: '*' },
};

const start =
  (id: string): Act =>
  async (model, { session }, tally) => {
    const lawful = mayStart(model, id);
    expect((await session.start(id)).ok).toBe(lawful);
    if (!lawful) return void tally.counts.refused++;
    Object.assign(model, { peripheral: id, begun: true, age: 0, seen: null });
    tally.counts.starts++;
    tally.peripherals.add(id);
  };

const step =
  (tool: string, verdict: 'pass' | 'fail'): Act =>
  async (model, real, tally) => {
    real.verdict = verdict;
    const call = { tool, args: ARGS[tool] ?? {} };
    const { ok } = await (real.twist.step ?? ((session, asked) => session.step(asked)))(real.session, call);
    // Reading in reflect is bound to the files that the session named: either may be.
    if (!(model.peripheral === 'reflect' && tool === 'read')) expect(ok).toBe(mayStep(model, tool));
    if (!ok) return void tally.counts.refused++;
    took(model, tool, verdict);
    tally.counts.steps++;
  };

const hop =
  (exit: string, to: string, wrote: boolean): Act =>
  async (model, { session, twist }, tally) => {
    const lawful = mayHop(model, exit, to, wrote);
    const fruit = wrote && model.peripheral === 'edit' ? { fruit: { 'commit-message': 'mend it' } } : {};
    const { ok } = await (twist.hop ?? ((at, asked) => at.hop(asked)))(session, {
      to,
      exit,
      reason: 'because',
      ...fruit,
    });
    expect(ok).toBe(lawful);
    if (!ok) return void tally.counts.refused++;
    tally.counts.hops++;
    tally.edges.add(`${model.peripheral} ${exit} ${to}`);
    tally.peripherals.add(to);
    leave(model, to, wrote);
  };

const setMode =
  (to: Mode): Act =>
  async (model, { session, twist }, tally) => {
    const lawful = mayGo(model, to);
    const { ok } = await (twist.setMode ? twist.setMode(session, to) : session.setMode({ to, summary: 'so far' }));
    expect(ok).toBe(lawful);
    if (!ok) return void tally.counts.refused++;
    tally.counts.modes++;
    tally.modes.add(`${model.mode} ${to}`);
    model.mode = to;
  };

const approve =
  (approves: boolean): Act =>
  async (model, real) => {
    model.approves = approves;
    real.approves = approves;
  };

const stop: Act = async (model, { session }, tally) => {
  expect((await session.stop('enough')).ok).toBe(model.peripheral !== null);
  if (model.peripheral === null) return void tally.counts.refused++;
  leave(model, null, false);
};

const killAndResume: Act = async (model, real, tally) => {
  real.clock.advance(SESSION_LEASE_MS + 1);
  passed(model, (SESSION_LEASE_MS + 1) / 60_000);
  real.session = await (real.twist.resume ?? ((_session, again) => again()))(real.session, real.reopen);
  tally.counts.resumes++;
};

const secondWriter: Act = async (model, { session, reopen, twist }) => {
  expect((await session.settle()).ok).toBe(true);
  const second = await (twist.second ? twist.second() : (await reopen()).setMode({ to: model.mode }));
  expect(second).toMatchObject({ ok: false, denial: { code: 'session-busy' } });
};

const clockJump: Act = async (model, real) => {
  real.clock.advance(61 * 60_000);
  passed(model, 61);
  await real.session.settle();
};

const ids = Object.keys(specs.peripherals);
const TOOLS = Object.keys(ARGS);

/** An open edge that needs more is taken more often. */
const needs = ({ implies, conditions, gates }: Edge): number => (implies ? 1 : 0) + conditions.length + gates.length;

/**
 * The moves that lead on from the model's state: every allowed start, step and hop, and the mode changes to more power.
 */
function onward(model: Model, salt: number): readonly (readonly [name: string, act: Act])[] {
  const verdict = salt % 3 === 0 ? 'fail' : 'pass';
  const wrote = salt % 4 !== 0;
  const steps = TOOLS.filter((tool) => !(model.peripheral === 'reflect' && tool === 'read') && mayStep(model, tool));
  // If only the approval is missing, the request is declined.
  const ways = edgesFrom(model.peripheral).filter(({ exit, to }) =>
    mayHop({ ...model, approves: true }, exit, to, wrote),
  );
  const up = MODES[MODES.indexOf(model.mode as 'discuss') + 1];
  return [
    ...ids.filter((id) => mayStart(model, id)).map((id) => [`Start ${id}`, start(id)] as const),
    ...steps.map((tool) => [`Step ${tool} ${verdict}`, step(tool, verdict)] as const),
    ...ways.flatMap((edge) => {
      const { exit, to } = edge;
      return Array.from({ length: 1 + 2 * needs(edge) }, () => [`Hop ${exit} → ${to}`, hop(exit, to, wrote)] as const);
    }),
    ...(up && mayGo(model, up) ? [[`SetMode ${up}`, setMode(up)] as const] : []),
  ];
}

class Command implements fc.AsyncCommand<Model, Real> {
  readonly #tally: Tally;
  readonly #choose: (model: Model) => readonly [name: string, act: Act];
  #name: string;

  constructor(tally: Tally, name: string, choose: (model: Model) => readonly [name: string, act: Act]) {
    this.#tally = tally;
    this.#name = name;
    this.#choose = choose;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    const [name, act] = this.#choose(model);
    this.#name = name;
    await act(model, real, this.#tally);
    stands(model, real);
  }

  toString(): string {
    return this.#name;
  }
}

/** Any move; most of these are refused. */
const anything: fc.Arbitrary<readonly [name: string, act: Act]> = fc.oneof(
  fc.constantFrom(...ids).map((id) => [`Start ${id}`, start(id)] as const),
  fc.constantFrom(...TOOLS).map((tool) => [`Step ${tool}`, step(tool, 'pass')] as const),
  fc
    .tuple(fc.constantFrom(...specs.edges, { exit: 'no-such', to: 'edit' }), fc.boolean())
    .map(([{ exit, to }, wrote]) => [`Hop ${exit} → ${to}`, hop(exit, to, wrote)] as const),
  fc.constantFrom(...MODES).map((to) => [`SetMode ${to}`, setMode(to)] as const),
  fc.boolean().map((approves) => [`Approve ${approves}`, approve(approves)] as const),
  fc.constant(['Approve true', approve(true)] as const),
  fc.constant(['Kill and resume', killAndResume] as const),
  fc.constant(['SecondWriter', secondWriter] as const),
);

/** The moves that lead back to the beginning; rare, because otherwise walks make no progress. */
const back: fc.Arbitrary<readonly [name: string, act: Act]> = fc.constantFrom(
  ['Stop', stop] as const,
  ['ClockJump', clockJump] as const,
);

/** Walks over the fixture specs: seven moves of ten lead on from the session's state. */
export function walk(
  twist: Twist,
  { numRuns, seed }: { readonly numRuns: number; readonly seed: number },
  tally = new Tally(),
): Promise<fc.RunDetails<[Iterable<fc.AsyncCommand<Model, Real>>]>> {
  const fixed = (arbitrary: typeof anything) => arbitrary.map((chosen) => new Command(tally, chosen[0], () => chosen));
  const on = fc.nat({ max: 10_000 }).map(
    (salt) =>
      new Command(tally, `On ${salt}`, (model) => {
        const ways = onward(model, salt);
        return ways[salt % ways.length] ?? ['Stop', stop];
      }),
  );
  const commands = [
    ...Array.from({ length: 14 }, () => on),
    ...Array.from({ length: 5 }, () => fixed(anything)),
    fixed(back),
  ];
  return fc.check(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), async (list) => {
      const real = await open(twist);
      await fc.asyncModelRun(async () => ({ model: opening(), real }), list);
    }),
    // The shortest failing walk is searched only for the unchanged engine, because the search takes time.
    { numRuns, seed, endOnFailure: Object.keys(twist).length > 0 },
  );
}
