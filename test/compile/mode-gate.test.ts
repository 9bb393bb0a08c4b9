import { describe, expect, it } from 'vitest';
import { buildMachine, type Machine } from '../../src/compile/machine.ts';
import { compileModeGate } from '../../src/compile/mode-gate.ts';
import type { RequirementFacts } from '../../src/gate/requirements/requirement.ts';
import type { Mode } from '../../src/spec/types.ts';
import { MODES } from '../fixture-specs.ts';
import { advance } from './advance.ts';
import { facts } from './facts.ts';
import { GATE } from './specs.ts';

const machine = buildMachine(compileModeGate(GATE));
const at = (gate: Machine, mode: Mode) => gate.resolveState({ value: mode, context: {} });

/** The mode that `type` leads to from `mode`; null if refused. */
const go = (mode: Mode, type: string, some: Partial<RequirementFacts> = {}) => {
  const { snapshot, taken } = advance(machine, at(machine, mode), { type, facts: facts(some) });
  return taken ? snapshot.value : null;
};

describe('the mode gate', () => {
  it('starts in discuss', () => expect(machine.config.initial).toBe('discuss'));

  it('always allows the change from discuss to diagnose', () => {
    expect(go('discuss', 'to.diagnose')).toBe('diagnose');
    expect(advance(machine, at(machine, 'discuss'), { type: 'to.diagnose' }).taken).toBe(true);
  });

  it('allows the change from diagnose to execute only with an approval', () => {
    expect(go('diagnose', 'to.execute', { approved: true })).toBe('execute');
    expect(go('diagnose', 'to.execute', { summary: 'approved', by: 'operator' })).toBe(null);
  });

  it('allows the change from execute to discuss only with a summary', () => {
    expect(go('execute', 'to.discuss', { summary: 'fixed the parser' })).toBe('discuss');
    expect(go('execute', 'to.discuss', { summary: ' ' })).toBe(null);
    expect(go('execute', 'to.discuss', { approved: true })).toBe(null);
  });

  it.each([
    ['discuss', 'execute'],
    ['execute', 'diagnose'],
    ['diagnose', 'discuss'],
    ['discuss', 'discuss'],
    ['diagnose', 'diagnose'],
    ['execute', 'execute'],
  ] as const)('refuses %s to %s in every case', (from, to) => {
    for (const by of ['agent', 'operator', 'clock'] as const) {
      expect(go(from, `to.${to}`, { approved: true, summary: 'done', by })).toBe(null);
    }
  });

  it.each(MODES)('allows %s to discuss by the operator’s reset and the clock’s timeout only', (mode) => {
    expect(go(mode, 'reset', { by: 'operator' })).toBe('discuss');
    expect(go(mode, 'timeout', { by: 'clock' })).toBe('discuss');
    for (const by of ['agent', 'clock'] as const)
      expect(go(mode, 'reset', { by, approved: true, summary: 'x' })).toBe(null);
    for (const by of ['agent', 'operator'] as const)
      expect(go(mode, 'timeout', { by, approved: true, summary: 'x' })).toBe(null);
  });

  it('has no timeout if the spec states no minutes', () => {
    const patient = buildMachine(compileModeGate({ ...GATE, timeoutMinutes: null }));
    expect(advance(patient, at(patient, 'execute'), { type: 'timeout', facts: facts({ by: 'clock' }) }).taken).toBe(
      false,
    );
  });

  it('resets to the mode that the spec names', () => {
    const other = buildMachine(compileModeGate({ ...GATE, reset: 'diagnose' }));
    expect(
      advance(other, at(other, 'execute'), { type: 'reset', facts: facts({ by: 'operator' }) }).snapshot.value,
    ).toBe('diagnose');
  });
});
