import { describe, expect, it } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { createTestModel, getShortestPaths } from 'xstate/graph';
import { compileConfigs, compileSpecs } from '../../src/compile/compile-specs.ts';
import { guards } from '../../src/compile/guards.ts';
import { buildMachine, initialSnapshot } from '../../src/compile/machine.ts';
import { type MachineJson, machineProblems } from '../../src/compile/machine-json.ts';
import { compileTables, stateAfter } from '../../src/compile/tables.ts';
import { advance, inState } from './advance.ts';
import { facts } from './facts.ts';
import { CORE, GATE, specSet } from './specs.ts';

const specs = specSet(CORE, GATE);
const compiled = compileSpecs(specs);
const machines = [
  compiled.hopGraph,
  ...(compiled.modeGate ? [compiled.modeGate] : []),
  ...Object.values(compiled.lifecycle),
];

/** Facts under which every requirement but the fruit's and the principal's holds, for each principal, source and result. */
const events = (machine: (typeof machines)[number]) =>
  machine.events.flatMap((type) =>
    (['agent', 'operator', 'clock'] as const).flatMap((by) =>
      ['pass', 'fail'].flatMap((result) =>
        [null, ...Object.keys(CORE)].map((source) => ({
          type,
          facts: facts({
            by,
            source,
            firstVisit: true,
            naturalClose: true,
            approved: true,
            summary: 'done',
            fruit: { result },
            conditions: { 'tests-passed': true },
          }),
        })),
      ),
    ),
  );

describe('compileSpecs', () => {
  it('makes a mode gate, a hop graph and a lifecycle per peripheral', () => {
    expect(machines.map(({ id }) => id)).toEqual([
      'hop-graph',
      'mode-gate',
      'explore-lifecycle',
      'edit-lifecycle',
      'test-lifecycle',
      'deploy-lifecycle',
      'reflect-lifecycle',
    ]);
  });

  it('makes no mode gate where the set has none', () => {
    const bare = specSet(CORE);
    expect(compileSpecs(bare).modeGate).toBe(null);
    expect(compileConfigs(bare).map(({ id }) => id)).not.toContain('mode-gate');
  });

  it.each(machines.map((machine) => [machine.id, machine] as const))(
    'makes %s plain JSON: no context, timers, calls or actions',
    (_id, machine) => {
      const text = JSON.stringify(machine.config);
      expect(JSON.parse(text)).toEqual(machine.config);
      for (const word of ['context', 'invoke', 'after', 'always', 'actions', 'entry', 'exit']) {
        expect(text).not.toContain(`"${word}":`);
      }
    },
  );

  it.each(machines.map((machine) => [machine.id, machine] as const))(
    'makes %s so that a path generator reaches every state',
    (_id, machine) => {
      const reached = getShortestPaths(machine, { events: events(machine) }).map(({ state }) => state.value);
      expect(new Set(reached)).toEqual(new Set(Object.keys(machine.states)));
    },
  );

  it.each(machines.map((machine) => [machine.id, machine] as const))(
    'makes %s so that a test model takes it',
    (_id, machine) => {
      const some = events(machine).filter(({ facts: { by, source } }) => by === 'operator' && source === 'test');
      const model = createTestModel(machine as never, { events: some as never });
      expect(model.getShortestPaths().length).toBeGreaterThan(0);
    },
  );
});

describe('an event', () => {
  it('executes nothing and leaves the snapshot it was given alone', () => {
    const { hopGraph } = compiled;
    const before = initialSnapshot(hopGraph);
    const copy = JSON.stringify(before);
    const event = Object.freeze({ type: 'start.explore', facts: Object.freeze(facts({ firstVisit: true })) });
    const [, actions] = transition(hopGraph, before, event);
    expect(actions).toEqual([]);
    expect(initialTransition(hopGraph)[1]).toEqual([]);
    const first = advance(hopGraph, before, event);
    expect(JSON.stringify(before)).toBe(copy);
    expect(advance(hopGraph, before, event).snapshot.value).toBe(first.snapshot.value);
  });

  it('moves the tables as the pure transition of xstate does, for every machine, state and event', () => {
    let moved = 0;
    for (const machine of machines) {
      for (const value of Object.keys(machine.states)) {
        const snapshot = inState(machine, value);
        for (const event of events(machine).filter(({ facts: { source } }) => source === null || source === value)) {
          const [next, actions] = transition(machine, snapshot, event);
          expect(actions).toEqual([]);
          expect(stateAfter(machine.config as MachineJson, value, event)).toBe(snapshot.can(event) ? next.value : null);
          if (next.value !== value) moved++;
        }
      }
    }
    expect(moved).toBeGreaterThan(30);
  });

  it('takes a transition to the same state, and says so', () => {
    const machine = compiled.lifecycle['edit'];
    if (!machine) throw new Error('no such machine');
    const active = inState(machine, 'active');
    expect(advance(machine, active, { type: 'step' })).toMatchObject({ taken: true, snapshot: { value: 'active' } });
  });

  it('hands back the very same snapshot for an event that no state lists', () => {
    for (const machine of machines) {
      const snapshot = initialSnapshot(machine);
      for (const type of ['', '*', 'nothing', 'xstate.init', 'start.', 'start', 'toString']) {
        if (machine.events.includes(type as never)) continue;
        const result = advance(machine, snapshot, { type, facts: facts({ by: 'operator', approved: true }) });
        expect(result.taken).toBe(false);
        const event = { type, facts: facts({ by: 'operator', approved: true }) };
        expect(stateAfter(machine.config as MachineJson, String(snapshot.value), event)).toBe(null);
        expect(result.snapshot).toBe(snapshot);
      }
    }
  });
});

describe('the tables', () => {
  it('makes them from the very configs that the machines are made from', () => {
    const { modeGate, hopGraph, lifecycle } = compileTables(specs);
    expect([hopGraph, modeGate, ...Object.values(lifecycle)]).toEqual(machines.map(({ config }) => config));
  });

  it('leads nowhere from a state or by an event of the prototype, and where the facts are missing or broken', () => {
    const { hopGraph } = compileTables(specs);
    const start = (facts?: unknown) =>
      stateAfter(hopGraph, 'outside', {
        type: 'start.explore',
        ...(facts === undefined ? {} : { facts: facts as never }),
      });
    expect(start(facts({ firstVisit: true }))).toBe('explore');
    for (const broken of [undefined, null, 0, {}]) expect(start(broken)).toBe(null);
    expect(stateAfter(hopGraph, 'constructor', { type: 'stop' })).toBe(null);
    expect(stateAfter(hopGraph, 'explore', { type: 'valueOf' })).toBe(null);
  });
});

describe('buildMachine', () => {
  const config = (some: Partial<MachineJson>): MachineJson => ({
    id: 'm',
    initial: 'a',
    states: { a: {}, b: { type: 'final' } },
    ...some,
  });
  const luck = { type: 'luck', params: { all: [] } } as never;

  it('names every problem at once: initial state, target, guard, final state', () => {
    const broken = config({
      initial: 'c',
      states: {
        a: { on: { go: { target: 'd' }, dare: { target: 'b', guard: luck } } },
        b: { type: 'final', on: { back: { target: 'a' } } },
      },
    });
    const problems = [
      'm: the initial state "c" is not there',
      'm.a.on["go"]: the target "d" is not there',
      'm.a.on["dare"]: there is no guard "luck"',
      'm.b: a final state has transitions',
    ];
    expect(machineProblems(broken, Object.keys(guards))).toEqual(problems);
    expect(() => buildMachine(broken)).toThrow(`cannot build m:\n${problems.join('\n')}`);
  });

  it('does not find a state or guard on the prototype', () => {
    expect(machineProblems(config({ initial: 'toString' }), [])).toHaveLength(1);
    expect(machineProblems(config({ states: { a: { on: { go: { target: 'valueOf' } } }, b: {} } }), [])).toHaveLength(
      1,
    );
  });

  it('builds what is whole', () => expect(initialSnapshot(buildMachine(config({}))).value).toBe('a'));
});

describe('guards', () => {
  it('reads a throw as false', () => {
    const event = { type: 'go', facts: facts() };
    expect(guards.requirements({ event }, { all: [{ kind: 'luck' } as never] })).toBe(false);
    expect(guards.requirements({ event }, { all: null as never })).toBe(false);
    expect(guards.requirements({ event: { type: 'go' } }, { all: [] })).toBe(false);
    expect(guards.requirements({ event }, { all: [] })).toBe(true);
  });
});
