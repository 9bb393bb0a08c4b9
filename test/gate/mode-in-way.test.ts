import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { shortestWay } from '../../src/gate/ways/shortest-way.ts';
import { effectsIn } from '../../src/spec/mode-way.ts';
import type { GateSpec, Mode, SpecSet } from '../../src/spec/types.ts';
import { contextOf, fixtureSpecs, viewOf, visitTo } from './views.ts';

const MODES = ['discuss', 'diagnose', 'execute'];
const PLACES = ['explore', 'edit', 'test', 'reflect'];
const gateOf = (
  lists: readonly (readonly string[] | null)[],
  pairs: readonly (readonly [string, string])[],
): GateSpec =>
  ({
    ...fixtureSpecs.modeGate,
    transitions: pairs.map(([from, to]) => ({ from, to, approval: null, summary: false })),
    peripherals: Object.fromEntries(MODES.map((mode, index) => [mode, lists[index] ?? null])),
  }) as GateSpec;
const template = fixtureSpecs.edges[0]!;

/** The least number of hops and changes of mode to a place and a mode that allows acts, by brute force. */
function least(specs: SpecSet, at: string, mode: Mode, to: string, left = 7): number {
  const gate = specs.modeGate!;
  if (at === to && effectsIn(gate, mode).includes('act')) return 0;
  if (left === 0) return Number.POSITIVE_INFINITY;
  const hops = specs.edges
    .filter((edge) => edge.from === at && (gate.peripherals[mode]?.includes(edge.to) ?? true))
    .map((edge) => least(specs, edge.to, mode, to, left - 1));
  const changes = gate.transitions
    .filter(({ from }) => from === mode)
    .map((change) => least(specs, at, change.to, to, left - 1));
  return 1 + Math.min(Number.POSITIVE_INFINITY, ...hops, ...changes);
}

describe('the way to a tool', () => {
  it('has as few hops and changes of mode as an exhaustive search finds, and each is lawful', () => {
    const list = fc.option(fc.subarray(PLACES));
    const pairsOf = (of: readonly string[], maxLength: number) => {
      const pair = fc.tuple(fc.constantFrom(...of), fc.constantFrom(...of)).filter(([from, to]) => from !== to);
      return fc.uniqueArray(pair, { maxLength, selector: (each) => each.join() });
    };
    const lists = fc.tuple(list, list, list);
    let longer = 0;
    fc.assert(
      fc.property(
        ...[lists, pairsOf(MODES, 5), pairsOf(PLACES, 6), fc.constantFrom(...MODES), fc.constantFrom(...PLACES)],
        (admitted, transitions, edges, mode, to) => {
          fc.pre(to !== PLACES[0]);
          const specs = {
            ...fixtureSpecs,
            modeGate: gateOf(admitted, transitions),
            edges: edges.map(([from, to]) => ({ ...template, from, to, exit: `to-${to}` })),
          } as SpecSet;
          const view = viewOf({ mode, visit: visitTo(PLACES[0]!), visits: { [PLACES[0]!]: 1 } });
          const found = shortestWay(specs, view, (place) => place === to, 'act');
          const count = least(specs, PLACES[0]!, mode, to);
          if (found === null) {
            expect(count).toBe(Number.POSITIVE_INFINITY);
            return;
          }
          let now = mode;
          const change = (steps: readonly { to: Mode }[] = []) => {
            for (const { to } of steps) {
              expect(transitions).toContainEqual([now, to]);
              now = to;
            }
            return steps.length;
          };
          let moves = found.length;
          for (const { to, modes, modesAfter } of found) {
            moves += change(modes);
            expect(specs.modeGate!.peripherals[now]?.includes(to) ?? true).toBe(true);
            moves += change(modesAfter);
          }
          expect(effectsIn(specs.modeGate!, now)).toContain('act');
          expect(moves).toBe(count);
          if (found.length > 1) longer += 1;
        },
      ),
      { numRuns: 1500 },
    );
    expect(longer).toBeGreaterThan(20);
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
