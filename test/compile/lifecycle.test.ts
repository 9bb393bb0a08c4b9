import { expect, it } from 'vitest';
import { compileLifecycle } from '../../src/compile/lifecycle.ts';
import { buildMachine, initialSnapshot } from '../../src/compile/machine.ts';
import { advance } from './advance.ts';
import { CORE, specSet } from './specs.ts';

const peripheral = specSet(CORE).peripherals['test'];
if (!peripheral) throw new Error('no such peripheral');
const machine = buildMachine(compileLifecycle(peripheral));

/** The state after these events; a `!` stands before each one that is expected to be refused. */
const after = (...events: string[]) => {
  let snapshot = initialSnapshot(machine);
  for (const event of events) {
    const result = advance(machine, snapshot, { type: event.replace('!', '') });
    expect([event, result.taken]).toEqual([event, !event.startsWith('!')]);
    snapshot = result.snapshot;
  }
  return snapshot.value;
};

it('is called after its peripheral', () => expect(machine.id).toBe('test-lifecycle'));

it('takes steps while it is active', () =>
  expect(after('!step', '!stop', 'start', 'step', 'step', '!start')).toBe('active'));

it('takes no step once expired: only a stop is left', () =>
  expect(after('start', 'step', 'expire', '!step', '!resume', '!interrupt', 'stop')).toBe('stopped'));

it('takes no step while interrupted, until it is resumed', () =>
  expect(after('start', 'interrupt', '!step', '!expire', 'resume', 'step', 'stop')).toBe('stopped'));

it('can be stopped while interrupted', () => expect(after('start', 'interrupt', 'stop')).toBe('stopped'));

it('is over when stopped', () => expect(after('start', 'stop', '!start', '!step', '!resume', '!stop')).toBe('stopped'));
