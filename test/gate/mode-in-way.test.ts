import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { withModes } from '../../src/gate/requirements/way-modes.ts';
import { effectsIn } from '../../src/spec/mode-way.ts';
import type { GateSpec, Mode, SpecSet } from '../../src/spec/types.ts';
import { contextOf, fixtureSpecs, viewOf, visitTo } from './views.ts';

const MODES = ['discuss', 'diagnose', 'execute'];
const PLACES = ['one', 'two', 'three'];
const gateOf = (
  lists: readonly (readonly string[] | null)[],
  pairs: readonly (readonly [string, string])[],
): GateSpec =>
  ({
    ...fixtureSpecs.modeGate,
    transitions: pairs.map(([from, to]) => ({ from, to, approval: null, summary: false })),
    peripherals: Object.fromEntries(MODES.map((mode, index) => [mode, lists[index] ?? null])),
  }) as GateSpec;
const leg = (to: string) => ({ from: null, exit: null, to, needs: [] });

/** The least number of changes of mode by brute force: every sequence of at most six. */
function least(gate: GateSpec, mode: Mode, way: readonly string[], left = 6): number {
  const [next, ...rest] = way;
  if (next === undefined && effectsIn(gate, mode).includes('act')) return 0;
  const admits = next !== undefined && (gate.peripherals[mode]?.includes(next) ?? true);
  const taken = admits ? least(gate, mode, rest, left) : Number.POSITIVE_INFINITY;
  if (left === 0) return taken;
  const changed = gate.transitions
    .filter(({ from }) => from === mode)
    .map(({ to }) => 1 + least(gate, to, way, left - 1));
  return Math.min(taken, ...changed);
}

describe('the modes on a way', () => {
  it('are as few as an exhaustive search finds, and admit each leg', () => {
    const list = fc.option(fc.subarray(PLACES));
    const pair = fc.tuple(fc.constantFrom(...MODES), fc.constantFrom(...MODES)).filter(([from, to]) => from !== to);
    const pairs = fc.uniqueArray(pair, { maxLength: 5, selector: (each) => each.join() });
    const places = fc.array(fc.constantFrom(...PLACES), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.tuple(list, list, list), pairs, fc.constantFrom(...MODES), places, (lists, edges, mode, way) => {
        const gate = gateOf(lists, edges);
        const found = withModes({ ...fixtureSpecs, modeGate: gate } as SpecSet, mode, way.map(leg), 'act');
        const count = least(gate, mode, way);
        if (found === null) {
          expect(count).toBe(Number.POSITIVE_INFINITY);
          return;
        }
        let now = mode;
        const change = (steps: readonly { to: Mode }[] = []) => {
          for (const { to } of steps) {
            expect(edges).toContainEqual([now, to]);
            now = to;
          }
          return steps.length;
        };
        let changes = 0;
        for (const { to, modes, modesAfter } of found) {
          changes += change(modes);
          expect(gate.peripherals[now]?.includes(to) ?? true).toBe(true);
          changes += change(modesAfter);
        }
        expect(effectsIn(gate, now)).toContain('act');
        expect(changes).toBe(count);
      }),
      { numRuns: 500 },
    );
  });

  const said = (specs: SpecSet, mode: Mode, tool: string) => {
    const view = viewOf({ mode, visit: visitTo('explore'), visits: { explore: 1 } });
    const decision = decide(contextOf(view, specs), { kind: 'step', tool, args: {} });
    return decision.ok ? 'allowed' : decision.denial.remedy;
  };
  const lists = (diagnose: string[] | null, execute: string[] | null): SpecSet => ({
    ...fixtureSpecs,
    modeGate: { ...fixtureSpecs.modeGate, peripherals: { diagnose, execute } } as never,
  });

  it('are named in the refusal of a tool that is elsewhere, in the place where they are needed', () => {
    expect(said(lists(null, null), 'diagnose', 'write')).toMatch(/way: call mode\(\{"to":"execute".*then hop to edit/);
    expect(said(lists(null, ['explore']), 'diagnose', 'write')).toMatch(
      /way: hop to edit with exit [\w-]+.*, then call mode\(\{"to":"execute"/,
    );
    expect(said(lists(['edit'], null), 'execute', 'write')).toMatch(/way: hop to edit/);
  });
});
