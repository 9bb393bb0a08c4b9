import { describe, expect, it } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { createTestModel, getShortestPaths } from 'xstate/graph';
import { compileMachineConfigs, compileSpecs } from '../../src/compile/compile-specs.ts';
import { allRequirementsHold, guards } from '../../src/compile/guards.ts';
import { buildMachine, initialSnapshot } from '../../src/compile/machine.ts';
import { findMachineProblems, type MachineJson } from '../../src/compile/machine-json.ts';
import { compileSpecTables, stateAfter } from '../../src/compile/spec-tables.ts';
import { type Requirement, requirementGuardName } from '../../src/gate/requirements/requirement.ts';
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

/**
 * Facts under which every requirement but the fruit's and the principal's holds, for each principal, source and result.
 */
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

  it('makes no mode gate if the spec set has none', () => {
    const bare = specSet(CORE);
    expect(compileSpecs(bare).modeGate).toBe(null);
    expect(compileMachineConfigs(bare).map(({ id }) => id)).not.toContain('mode-gate');
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
    'makes %s in a form that xstate’s test model accepts',
    (_id, machine) => {
      const some = events(machine).filter(({ facts: { by, source } }) => by === 'operator' && source === 'test');
      const model = createTestModel(machine as never, { events: some as never });
      expect(model.getShortestPaths().length).toBeGreaterThan(0);
    },
  );
});

describe('an event', () => {
  it('runs no effect and does not change the given snapshot', () => {
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

  it('leads in the tables to the same state as xstate’s transition, for every machine, state and event', () => {
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

  it('reports a transition that leads back to the same state', () => {
    const gate = compiled.modeGate!;
    const reset = { type: 'reset', facts: facts({ by: 'operator' }) };
    expect(advance(gate, inState(gate, 'discuss'), reset)).toMatchObject({
      taken: true,
      snapshot: { value: 'discuss' },
    });
  });

  it('returns the same snapshot object if no state lists the event', () => {
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

describe('the transition tables', () => {
  it('are made from the configs of the machines', () => {
    const { modeGate, hopGraph, lifecycle } = compileSpecTables(specs);
    expect([hopGraph, modeGate, ...Object.values(lifecycle)]).toEqual(machines.map(({ config }) => config));
  });

  it('make no transition by names of the prototype, or with missing or broken facts', () => {
    const { hopGraph } = compileSpecTables(specs);
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

  it('names all problems together: initial state, target, final state', () => {
    const broken = config({
      initial: 'c',
      states: {
        a: { on: { go: { target: 'd' } } },
        b: { type: 'final', on: { back: { target: 'a' } } },
      },
    });
    const problems = [
      'm: the initial state "c" does not exist',
      'm.a.on["go"]: the target "d" does not exist',
      'm.b: a final state has transitions',
    ];
    expect(findMachineProblems(broken)).toEqual(problems);
    expect(() => buildMachine(broken)).toThrow(`cannot build m:\n${problems.join('\n')}`);
  });

  it('accepts no property of the prototype as a state', () => {
    expect(findMachineProblems(config({ initial: 'toString' }))).toHaveLength(1);
    expect(findMachineProblems(config({ states: { a: { on: { go: { target: 'valueOf' } } }, b: {} } }))).toHaveLength(
      1,
    );
  });

  it('builds a valid config', () => expect(initialSnapshot(buildMachine(config({}))).value).toBe('a'));
});

describe('a guard', () => {
  it('is false if it throws', () => {
    const event = { type: 'go', facts: facts() };
    expect(allRequirementsHold({ event }, { all: [{ kind: 'luck' } as never] })).toBe(false);
    expect(allRequirementsHold({ event }, { all: null as never })).toBe(false);
    expect(allRequirementsHold({ event: { type: 'go' } }, { all: [] })).toBe(false);
    expect(allRequirementsHold({ event }, { all: [] })).toBe(true);
  });

  it('has a name that contains each of its requirements', () => {
    expect(Object.keys(guards('a', 'b and c'))).toEqual(['a', 'b and c']);
    const names = compiled.hopGraph.config.states as MachineJson['states'];
    expect(names['test']?.on?.['pass.deploy']?.guard?.type).toBe('result=pass and tests-passed and approval:operator');
    expect(names['outside']?.on?.['start.edit']?.guard?.type).toBe('user-request');
  });

  it('has another name than a guard with other requirements', () => {
    const all: Requirement[] = [
      { kind: 'source', any: ['user-request'] },
      { kind: 'source', any: ['from-a', 'from-b'] },
      { kind: 'natural-close' },
      { kind: 'fruit', field: 'approval', value: 'operator' },
      { kind: 'fruit', field: 'by', value: 'operator' },
      { kind: 'condition', name: 'natural-close' },
      { kind: 'when', cel: 'x' },
      { kind: 'approval', by: 'operator', action: 'hop' },
      { kind: 'pattern', pattern: 'p', is: 'held' },
      { kind: 'pattern', pattern: 'p', is: 'selected' },
      { kind: 'principal', is: 'operator' },
      { kind: 'agent', any: ['operator'] },
    ];
    expect(new Set(all.map(requirementGuardName)).size).toBe(all.length);
  });
});
