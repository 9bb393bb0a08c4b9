import { expect, it } from 'vitest';
import { compileLifecycle } from '../../src/compile/lifecycle.ts';
import { buildMachine, initialSnapshot } from '../../src/compile/machine.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { advance } from './advance.ts';
import { facts } from './facts.ts';

const { peripherals } = fixtureSpecs;
const lifecycle = (id: string) => buildMachine(compileLifecycle(fixtureSpecs, peripherals[id]!));

/** The state after these events of a visit; a `!` marks an event that must be refused. */
const after = (id: string, ...events: string[]) => {
  const machine = lifecycle(id);
  let snapshot = initialSnapshot(machine);
  for (const event of events) {
    const [type = '', result = ''] = event.replace('!', '').split(' ');
    const taken = advance(machine, snapshot, { type, facts: facts({ fruit: { result } }) });
    expect([event, taken.taken]).toEqual([event, !event.startsWith('!')]);
    snapshot = taken.snapshot;
  }
  return snapshot.value;
};

it('a lifecycle has its peripheral’s name', () => expect(lifecycle('test').id).toBe('test-lifecycle'));

it('a lifecycle accepts steps while it is active', () =>
  expect(after('test', '!step', '!stop', 'start', 'step', 'step', '!start')).toBe('active'));

it('a lifecycle accepts steps only with tools, expiry only with limits, and interruption only with an acting tool', () => {
  expect(after('chat', 'start', '!step', '!expire', '!interrupt', 'stop')).toBe('stopped');
  expect(after('explore', 'start', 'step', '!expire', '!interrupt', 'stop')).toBe('stopped');
  expect(after('test', 'start', 'step', 'expire', '!interrupt', 'stop')).toBe('stopped');
  expect(after('edit', 'start', 'step', '!expire', 'interrupt', 'stop')).toBe('stopped');
});

it('a lifecycle ends by the exits of its spec, each with the fruit that it implies', () => {
  expect(after('test', 'start', '!exit.pass fail', '!exit.found-target pass', 'exit.pass pass', '!step')).toBe(
    'stopped',
  );
  expect(after('test', 'start', '!exit.pass', 'exit.hop-edit')).toBe('stopped');
  expect(after('explore', 'start', '!exit.pass pass', 'exit.found-target')).toBe('stopped');
});

it('a lifecycle that expired can only be left', () => {
  expect(after('test', 'start', 'step', 'expire', '!step', '!resume', '!exit.pass', 'stop')).toBe('stopped');
  expect(after('test', 'start', 'expire', 'exit.fail fail')).toBe('stopped');
});

it('a lifecycle accepts no step while interrupted, until it is resumed', () =>
  expect(after('edit', 'start', 'interrupt', '!step', 'resume', 'step', 'stop')).toBe('stopped'));

it('a lifecycle can be left while interrupted', () =>
  expect(after('edit', 'start', 'interrupt', 'exit.blocked')).toBe('stopped'));

it('a lifecycle ends with a stop', () =>
  expect(after('edit', 'start', 'stop', '!start', '!step', '!resume', '!stop')).toBe('stopped'));

it('a lifecycle contains the envelope: the tools as tags of the active state, the rest in the meta', () => {
  const { active, idle } = lifecycle('edit').states;
  expect(active?.tags).toEqual(peripherals['edit']!.tools);
  expect(idle?.tags).toEqual([]);
  expect(lifecycle('edit').root.meta).toMatchObject({
    purpose: 'Make changes to the code.',
    tools: { read: 'observe', edit: 'act' },
    scope: { name: '{ paths }', write: ['src/', 'docs/', 'scripts/'] },
    limits: { steps: null, minutes: null },
  });
});

it('the meta of a lifecycle names what the calls of a tool need: the gates of the tool, then those of the peripheral', () => {
  const [positive, approved] = [
    { kind: 'when', cel: 'args.path != ""' },
    { kind: 'approval', by: 'operator' },
  ] as const;
  const { tools, edges } = fixtureSpecs;
  const gated = { edges, tools: { ...tools, write: { ...tools['write']!, gates: [positive] } } };
  const { meta } = compileLifecycle(gated, { ...peripherals['edit']!, calls: { write: [approved] } });
  expect(meta).toMatchObject({ calls: { write: [positive, approved] } });
  expect(lifecycle('edit').root.meta).not.toHaveProperty('calls');
});
