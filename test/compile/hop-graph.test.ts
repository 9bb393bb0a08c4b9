import { describe, expect, it } from 'vitest';
import { compileHopGraph } from '../../src/compile/hop-graph.ts';
import { buildMachine } from '../../src/compile/machine.ts';
import type { RequirementFacts } from '../../src/gate/requirements/requirement.ts';
import { advance } from './advance.ts';
import { facts } from './facts.ts';
import { CORE, specSet } from './specs.ts';

const machine = buildMachine(compileHopGraph(specSet(CORE)));

/** All facts that can hold when `source` is left, except the test result. */
const everything = (source: string | null): Partial<RequirementFacts> => ({
  by: 'operator',
  source,
  naturalClose: true,
  conditions: { 'tests-passed': true },
  approved: true,
  summary: 'done',
});
const go = (from: string, type: string, some: Partial<RequirementFacts>) => {
  const at = machine.resolveState({ value: from, context: {} });
  const { snapshot, taken } = advance(machine, at, { type, facts: facts(some) });
  return taken ? snapshot.value : null;
};

describe('the hop graph', () => {
  it('begins outside, and lets an agent start only the default peripheral', () => {
    expect(go('outside', 'start.explore', { firstVisit: true })).toBe('explore');
    for (const id of ['edit', 'test', 'deploy', 'reflect'])
      expect(go('outside', `start.${id}`, { firstVisit: true, naturalClose: true })).toBe(null);
  });

  it('lets the operator, or a session that will close, start a peripheral after a stop, but not the agent', () => {
    expect(go('outside', 'start.explore', { naturalClose: true })).toBe(null);
    expect(go('outside', 'start.explore', { by: 'operator' })).toBe('explore');
    expect(go('outside', 'start.reflect', { atSessionClose: true })).toBe('reflect');
  });

  it('has no start for a peripheral that only a hop reaches, not even for the operator', () => {
    expect(go('outside', 'start.deploy', { ...everything(null), firstVisit: true, atSessionClose: true })).toBe(null);
  });

  it('leads to deploy from a passing test visit with passed tests and an approval', () => {
    expect(go('test', 'pass.deploy', { ...everything('test'), fruit: { result: 'pass' } })).toBe('deploy');
  });

  it.each([
    ['no approval', { approved: false }],
    ['tests that passed before the last change', { conditions: { 'tests-passed': false } }],
    ['a failing result', { fruit: { result: 'fail' } }],
  ])('does not lead to deploy with %s', (_what, some) => {
    expect(go('test', 'pass.deploy', { ...everything('test'), fruit: { result: 'pass' }, ...some })).toBe(null);
  });

  it('never leads to deploy by the exit fail', () => {
    for (const result of ['pass', 'fail']) {
      expect(go('test', 'fail.deploy', { ...everything('test'), fruit: { result } })).toBe(null);
      expect(go('test', 'fail.edit', { ...everything('test'), fruit: { result } })).toBe(
        result === 'fail' ? 'edit' : null,
      );
    }
    expect(Object.keys(machine.states['test']?.on ?? {}).filter((event) => event.endsWith('.deploy'))).toEqual([
      'pass.deploy',
    ]);
  });

  it('requires a natural close of an agent before reflect, although reflect admits every source', () => {
    expect(go('edit', 'blocked.reflect', { source: 'edit' })).toBe(null);
    expect(go('edit', 'blocked.reflect', { source: 'edit', naturalClose: true })).toBe('reflect');
    expect(go('edit', 'blocked.reflect', { source: 'edit', by: 'operator' })).toBe('reflect');
  });

  it('lets only the operator enter the target of a user-request entry', () => {
    expect(go('explore', 'hop-test.test', { source: 'explore' })).toBe(null);
    expect(go('explore', 'hop-test.test', { source: 'explore', by: 'operator' })).toBe('test');
  });

  it('has an edge only if both the exit and the entry allow it', () => {
    const sketch = {
      here: { entry: ['default'], exits: { out: ['there'] } },
      there: { entry: ['from-elsewhere'], exits: {} },
      elsewhere: { entry: ['default'], exits: { out: ['here'] } },
    };
    const hops = Object.entries(compileHopGraph(specSet(sketch)).states).map(([state, { on = {} }]) => [
      state,
      Object.keys(on),
    ]);
    expect(Object.fromEntries(hops)).toEqual({
      outside: ['start.here', 'start.elsewhere', 'close'],
      here: ['stop'],
      there: ['stop'],
      elsewhere: ['stop'],
      closed: [],
    });
  });

  it('stops any visit to outside, and closes only from there, permanently', () => {
    for (const id of Object.keys(CORE)) {
      expect(go(id, 'stop', {})).toBe('outside');
      expect(go(id, 'close', everything(id))).toBe(null);
    }
    expect(go('outside', 'close', {})).toBe('closed');
    expect(go('closed', 'start.explore', { by: 'operator', firstVisit: true })).toBe(null);
  });

  it('makes no transition on an event without readable facts', () => {
    const at = machine.resolveState({ value: 'test', context: {} });
    expect(advance(machine, at, { type: 'hop-edit.edit' }).taken).toBe(false);
    expect(advance(machine, at, { type: 'fail.edit', facts: { source: 'test' } as RequirementFacts }).taken).toBe(
      false,
    );
    expect(advance(machine, at, { type: 'hop-edit.edit', facts: facts({ source: 'test' }) }).taken).toBe(true);
  });

  it.each(['outside', 'closed'])('refuses a peripheral called %s', (id) => {
    expect(() => compileHopGraph(specSet({ [id]: { entry: ['default'], exits: {} } }))).toThrow(
      `cannot be called "${id}"`,
    );
  });

  it.each(['constructor', 'to-string', 'end', 'subgraph'])('accepts a peripheral called %s', (id) => {
    const odd = buildMachine(compileHopGraph(specSet({ [id]: { entry: ['default'], exits: {} } })));
    expect(odd.states[id]?.key).toBe(id);
  });
});
