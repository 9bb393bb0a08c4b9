import type {
  Edge,
  EntryRule,
  EntrySource,
  Exit,
  GateRule,
  Mode,
  ModeGateSpec,
  ModeTransition,
  PeripheralSpec,
  SpecSet,
} from '../../src/spec/types.ts';

/** A peripheral in as few words as a test needs: `entry` as in a spec file, `exits` by name with their destinations. */
export interface Sketch {
  readonly entry: readonly string[];
  readonly exits: { readonly [exit: string]: readonly (string | { to: string; when: string })[] };
  readonly gates?: { readonly [to: string]: readonly GateRule[] };
  readonly agents?: readonly string[];
  /** Exits that imply a value of the observed fruit field `result`; its other field is the count `n`. */
  readonly results?: readonly string[];
}

const SOURCES = ['default', 'from-any', 'user-request', 'agent-request', 'session-close'];

function entryOf(names: readonly string[]): EntryRule {
  const isSource = (name: string) => SOURCES.includes(name) || name.startsWith('from-');
  const sources = names.filter(isSource).map((name): EntrySource => {
    if (SOURCES.includes(name)) return { kind: name } as EntrySource;
    return { kind: 'from', peripheral: name.slice('from-'.length) };
  });
  return { sources, conditions: names.filter((name) => !isSource(name)) };
}

function peripheralOf(id: string, { entry, exits, gates = {}, agents, results = [] }: Sketch): PeripheralSpec {
  return {
    id,
    purpose: `Do what ${id} is for.`,
    tools: [],
    scope: { name: 'full-codebase', rule: { read: 'root', write: [], command: 'none', url: 'none' } },
    entry: entryOf(entry),
    exits: Object.entries(exits).map(
      ([name, opens]): Exit => ({
        name,
        opens: opens.map((each) => (typeof each === 'string' ? { to: each, when: null } : each)),
        implies: results.includes(name) ? { field: 'result', value: name } : null,
        bound: true,
      }),
    ),
    context: {},
    fruit: {
      result: { kind: 'observed', type: results, from: 'result' },
      n: { kind: 'observed', type: 'integer', from: 'test-count' },
    },
    gates,
    limits: { steps: null, minutes: null },
    agents: agents ?? null,
    config: {},
    output: null,
  };
}

/** The target's sources that can admit a hop from `from`; empty if there is no edge. */
const admitting = (target: PeripheralSpec, from: string): readonly EntrySource[] =>
  target.entry.sources.filter(
    (source) => source.kind !== 'default' && (source.kind !== 'from' || source.peripheral === from),
  );

/**
 * A spec set made by hand, with its edges derived as the design says: exit names the target, and the target admits the
 * source.
 */
export function specSet(sketches: { readonly [id: string]: Sketch }, gate: ModeGateSpec | null = null): SpecSet {
  const peripherals = Object.fromEntries(
    Object.entries(sketches).map(([id, sketch]) => [id, peripheralOf(id, sketch)]),
  );
  const edges = Object.values(peripherals).flatMap(({ id: from, exits, gates }) =>
    exits.flatMap(({ name: exit, opens, implies }) =>
      opens.flatMap(({ to, when }): Edge[] => {
        const target = peripherals[to];
        const sources = target ? admitting(target, from) : [];
        if (!target || sources.length === 0) return [];
        return [
          { from, exit, to, when, sources, conditions: target.entry.conditions, gates: gates[to] ?? [], implies },
        ];
      }),
    ),
  );
  const order = (edge: Edge) => `${edge.from} ${edge.exit} ${edge.to}`;
  edges.sort((a, b) => (order(a) < order(b) ? -1 : 1));
  return {
    hash: `${'c0ffee'.repeat(10)}beef`,
    modeGate: gate,
    tools: {},
    scopes: {},
    conditions: {},
    peripherals,
    edges,
  };
}

const transition = (from: Mode, to: Mode, needs: Partial<ModeTransition> = {}): ModeTransition => ({
  from,
  to,
  approval: null,
  summary: false,
  ...needs,
});

/** The mode gate of the design. */
export const GATE: ModeGateSpec = {
  initial: 'discuss',
  effects: { discuss: ['coordinate'], diagnose: ['observe', 'coordinate'], execute: ['observe', 'act', 'coordinate'] },
  peripherals: { discuss: null, diagnose: null, execute: null },
  transitions: [
    transition('discuss', 'diagnose'),
    transition('diagnose', 'execute', { approval: 'operator' }),
    transition('execute', 'discuss', { summary: true }),
  ],
  reset: 'discuss',
  timeoutMinutes: 60,
};

/** The five core peripherals, in outline. */
export const CORE: { readonly [id: string]: Sketch } = {
  explore: {
    entry: ['default', 'user-request'],
    exits: { 'found-target': ['edit'], 'ready-to-edit': ['edit'], 'hop-test': ['test'], 'hop-reflect': ['reflect'] },
  },
  edit: {
    entry: ['from-explore', 'from-test', 'user-request'],
    exits: { 'tests-ready': ['test'], blocked: ['explore', 'reflect'] },
  },
  test: {
    entry: ['from-edit', 'user-request'],
    exits: { pass: ['deploy', 'reflect'], fail: ['edit', 'reflect'], 'hop-edit': ['edit'] },
    results: ['pass', 'fail'],
    gates: { deploy: [{ kind: 'approval', by: 'operator' }] },
  },
  deploy: { entry: ['from-test', 'tests-passed'], exits: { deployed: ['reflect'], failed: ['test', 'reflect'] } },
  reflect: {
    entry: ['session-close', 'user-request', 'agent-request', 'from-any'],
    exits: { 'par-generated': ['explore'] },
  },
};
