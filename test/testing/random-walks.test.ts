import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { createSession, resumeSession } from '../../src/session/open.ts';
import type { Session } from '../../src/session/session.ts';
import { LEASE_MS } from '../../src/session/writer.ts';
import { loadSpecs } from '../../src/spec/load-specs.ts';
import type { Mode } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { countingIds } from '../../src/testing/counting-ids.ts';
import { FixedClock } from '../../src/testing/fixed-clock.ts';
import { TRIAL_CONFIG } from '../../src/testing/trial-config.ts';
import { scriptedBackend } from '../../src/tools/scripted.ts';

const specs = await loadSpecs('default');
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

/** The model: all that a session is, in a few words. */
interface Model {
  place: string | null;
  mode: Mode;
  steps: number;
  approves: boolean;
  begun: boolean;
}
const opening = (): Model => ({ place: null, mode: 'discuss', steps: 0, approves: true, begun: false });
const EFFECTS = { discuss: [], diagnose: ['observe'], execute: ['observe', 'act'] } as const;
const maySee = ({ place, mode }: Model, tool: string): boolean =>
  place !== null &&
  specs.peripherals[place]!.tools.includes(tool) &&
  (EFFECTS[mode] as readonly string[]).includes(specs.tools[tool]!.effect);
const mayGo = ({ mode, approves }: Model, to: Mode): boolean =>
  (mode === 'discuss' && to === 'diagnose') ||
  (mode === 'diagnose' && to === 'execute' && approves) ||
  (mode === 'execute' && to === 'discuss');
const hasEdge = ({ place }: Model, exit: string, to: string): boolean =>
  specs.edges.some((edge) => edge.from === place && edge.exit === exit && edge.to === to);

/** The real thing, as a break may twist it. */
interface Real {
  session: Session;
  readonly store: EvidenceStore;
  readonly clock: FixedClock;
  readonly reopen: () => Promise<Session>;
  approves: boolean;
  readonly twist: Twist;
}
/** One way for an engine to be broken. */
interface Twist {
  readonly step?: (session: Session, tool: string) => Promise<{ readonly ok: boolean }>;
  readonly setMode?: (session: Session, to: Mode) => Promise<{ readonly ok: boolean }>;
  readonly hop?: (session: Session, to: string, exit: string) => Promise<{ readonly ok: boolean }>;
  readonly resume?: (session: Session, again: () => Promise<Session>) => Promise<Session>;
  readonly second?: () => Promise<{ readonly ok: boolean }>;
}

async function open(twist: Twist): Promise<Real> {
  const clock = new FixedClock();
  const store = memoryStore({ clock });
  const real: { approves: boolean } = { approves: true };
  const tools = Object.keys(specs.tools);
  const parts = {
    store,
    clock,
    ids: countingIds(),
    backends: [scriptedBackend(Object.fromEntries(tools.map((id) => [id, { seen: true }])))],
    approver: { via: 'approver' as const, approve: async () => (real.approves ? { by: 'operator' } : null) },
  };
  const session = await createSession(parts, {
    specs,
    config: TRIAL_CONFIG,
    agent: 'a',
    root: '/r',
    unsafeNoSandbox: false,
    version: '0',
  });
  return Object.assign(real, { session, store, clock, twist, reopen: () => resumeSession(parts, session.id) });
}

const stands = (model: Model, { session }: Real) => {
  const { peripheral, mode, steps } = session.state;
  expect({ peripheral, mode, steps }).toEqual({ peripheral: model.place, mode: model.mode, steps: model.steps });
};

type Command = fc.AsyncCommand<Model, Real>;
const command = (name: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  run: async (model, real) => {
    await run(model, real);
    stands(model, real);
  },
  toString: () => name,
});

const ids = Object.keys(specs.peripherals);
let lawfulSteps = 0;

const startOf = (id: string): Command =>
  command(`Start ${id}`, async (model, { session }) => {
    const { ok } = await session.start(id);
    const sources: readonly string[] = specs.peripherals[id]!.entry.sources.map(({ kind }) => kind);
    expect(ok).toBe(model.place === null && sources.includes(model.begun ? 'session-close' : 'default'));
    if (ok) Object.assign(model, { place: id, begun: true });
  });

const commands = [
  fc.constantFrom(...ids).map(startOf),
  fc.constantFrom('read', 'musn-log', 'bash-test', 'grep').map((tool) =>
    command(`Step ${tool}`, async (model, { session, twist }) => {
      const args = tool === 'grep' ? { pattern: 'x' } : tool === 'read' ? { path: 'README.md' } : {};
      if (maySee(model, tool)) lawfulSteps += 1;
      const { ok } = await (twist.step ? twist.step(session, tool) : session.step({ tool, args }));
      // Reading in reflect is bound to the files that the session named: either may be.
      if (!(model.place === 'reflect' && tool === 'read')) expect(ok).toBe(maySee(model, tool));
      if (ok) model.steps += 1;
    }),
  ),
  fc
    .constantFrom(...specs.edges.map(({ exit, to }) => [exit, to] as const), ['no-such', 'edit'] as const)
    .map(([exit, to]) =>
      command(`Hop ${exit} → ${to}`, async (model, { session, twist }) => {
        const { ok } = await (twist.hop ? twist.hop(session, to, exit) : session.hop({ to, exit, reason: 'because' }));
        if (!hasEdge(model, exit, to)) expect(ok).toBe(false);
        if (ok) model.place = to;
      }),
    ),
  fc.constantFrom<Mode>('discuss', 'diagnose', 'execute').map((to) =>
    command(`SetMode ${to}`, async (model, { session, twist }) => {
      const { ok } = await (twist.setMode ? twist.setMode(session, to) : session.setMode({ to, summary: 'so far' }));
      expect(ok).toBe(mayGo(model, to));
      if (ok) model.mode = to;
    }),
  ),
  fc.boolean().map((approves) =>
    command(`Approve ${approves}`, async (model, real) => {
      model.approves = approves;
      real.approves = approves;
    }),
  ),
  fc.constant(
    command('Stop', async (model, { session }) => {
      expect((await session.stop('enough')).ok).toBe(model.place !== null);
      model.place = null;
    }),
  ),
  fc.constant(
    command('Kill and resume', async (_, real) => {
      real.clock.advance(LEASE_MS + 1);
      real.session = await (real.twist.resume ?? ((_session, again) => again()))(real.session, real.reopen);
    }),
  ),
  fc.constant(
    command('SecondWriter', async (model, { session, reopen, twist }) => {
      const first = await session.settle();
      expect(first.ok).toBe(true);
      const second = await (twist.second ? twist.second() : (await reopen()).setMode({ to: model.mode }));
      expect(second).toMatchObject({ ok: false, denial: { code: 'session-busy' } });
    }),
  ),
  fc.constant(
    command('ClockJump', async (model, real) => {
      real.clock.advance(61 * 60_000);
      await real.session.settle();
      model.mode = 'discuss';
    }),
  ),
];

const [, steps, hops, modes] = commands;
/** What leads somewhere comes up more often than what leads back. */
const weighted = [
  ...commands,
  fc.constant(startOf('explore')),
  fc.constant(startOf('explore')),
  ...[steps, steps, steps, hops, hops, modes, modes],
].filter((each) => each !== undefined);

const walk = (twist: Twist, numRuns: number, from = seed) =>
  fc.check(
    fc.asyncProperty(fc.commands(weighted, { maxCommands: 40, size: 'max' }), async (list) => {
      const real = await open(twist);
      await fc.asyncModelRun(async () => ({ model: opening(), real }), list);
    }),
    { numRuns, seed: from },
  );

describe(`random walks (seed ${seed}; SEED=${seed} repeats them)`, () => {
  it('the session and the model agree', async () => {
    const { failed, counterexample, error } = await walk({}, 100).then((out) => ({ ...out, error: out.errorInstance }));
    expect(failed ? `${counterexample}\n${error}` : null).toBe(null);
    expect(lawfulSteps).toBeGreaterThan(0);
  });

  const BROKEN: readonly (readonly [string, Twist])[] = [
    ['lets any step through', { step: async () => ({ ok: true }) }],
    ['refuses every step', { step: async () => ({ ok: false }) }],
    [
      'counts a step twice',
      {
        step: async (session, tool) => {
          await session.step({ tool, args: {} });
          return session.step({
            tool,
            args: tool === 'grep' ? { pattern: 'x' } : tool === 'read' ? { path: 'README.md' } : {},
          });
        },
      },
    ],
    [
      'jumps to EXECUTE',
      {
        setMode: async (session, to) => {
          if (to === 'execute') await session.setMode({ to: 'diagnose' });
          return session.setMode({ to, summary: 'x' });
        },
      },
    ],
    ['resets for the agent', { setMode: async (session, to) => session.setMode({ to, reset: true, by: 'operator' }) }],
    ['says that it hopped', { hop: async () => ({ ok: true }) }],
    ['hops by any exit', { hop: async (session, to) => session.hop({ to, reason: 'because', by: 'operator' }) }],
    [
      'forgets what it was on resume',
      {
        resume: async (session, again) => {
          const next = await again();
          await next.setMode({ to: 'diagnose' });
          void session;
          return next;
        },
      },
    ],
    ['has two writers', { second: async () => ({ ok: true }) }],
  ];
  it.each(BROKEN)('they catch an engine that %s', async (_name, twist) => {
    expect((await walk(twist, 300, 7)).failed).toBe(true);
  });
});
