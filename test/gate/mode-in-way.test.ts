import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { shortestWay } from '../../src/gate/ways/shortest-way.ts';
import { effectsOfMode } from '../../src/spec/mode-way.ts';
import type { Mode, ModeGateSpec, SpecSet } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import { contextOf, fixtureSpecs, viewOf, visitTo } from './views.ts';

const MODES = ['discuss', 'diagnose', 'execute'];
const PERIPHERALS = ['explore', 'edit', 'test', 'reflect'];
const gateOf = (
  lists: readonly (readonly string[] | null)[],
  pairs: readonly (readonly [string, string])[],
): ModeGateSpec =>
  ({
    ...fixtureSpecs.modeGate,
    transitions: pairs.map(([from, to]) => ({ from, to, approval: null, summary: false })),
    peripherals: Object.fromEntries(MODES.map((mode, index) => [mode, lists[index] ?? null])),
  }) as ModeGateSpec;
const withoutContext: SpecSet = {
  ...fixtureSpecs,
  peripherals: Object.fromEntries(
    Object.entries(fixtureSpecs.peripherals).map(([id, spec]) => [id, { ...spec, context: {} }]),
  ),
};
const template = fixtureSpecs.edges[0]!;

/**
 * The least number of hops and changes of mode to a peripheral and a mode that allows acts: distances over all pairs of
 * peripheral and mode, corrected until none is too large.
 */
function least(specs: SpecSet, at: string, mode: Mode, to: string, resets: boolean): number {
  const gate = specs.modeGate!;
  const far = Number.POSITIVE_INFINITY;
  const pairs = PERIPHERALS.flatMap((peripheral) => MODES.map((each) => ({ peripheral, mode: each as Mode })));
  const known = new Map<string, number>();
  const distance = (peripheral: string, each: Mode) => known.get(`${peripheral} ${each}`) ?? far;
  for (const _ of pairs)
    for (const { peripheral, mode: each } of pairs) {
      const hops = specs.edges
        .filter((edge) => edge.from === peripheral && (gate.peripherals[each]?.includes(edge.to) ?? true))
        .map((edge) => distance(edge.to, each));
      const changes = gate.transitions.filter(({ from }) => from === each).map((leg) => distance(peripheral, leg.to));
      const reset = resets ? distance(peripheral, gate.reset) : far;
      const done = peripheral === to && effectsOfMode(gate, each).includes('act');
      known.set(`${peripheral} ${each}`, done ? 0 : 1 + Math.min(far, reset, ...hops, ...changes));
    }
  return distance(at, mode);
}

describe('the path to a tool', () => {
  it('has as few hops and changes of mode as an exhaustive search finds, and each is allowed', () => {
    const list = fc.option(fc.subarray(PERIPHERALS));
    const pairsOf = (of: readonly string[], maxLength: number) => {
      const pair = fc.tuple(fc.constantFrom(...of), fc.constantFrom(...of)).filter(([from, to]) => from !== to);
      return fc.uniqueArray(pair, { maxLength, selector: (each) => each.join() });
    };
    const lists = fc.tuple(list, list, list);
    let longer = 0;
    let byReset = 0;
    fc.assert(
      fc.property(
        ...[
          lists,
          pairsOf(MODES, 5),
          pairsOf(PERIPHERALS, 6),
          fc.constantFrom(...MODES),
          fc.constantFrom(...PERIPHERALS),
        ],
        (admitted, transitions, edges, mode, to) => {
          fc.pre(to !== PERIPHERALS[0]);
          const specs = {
            ...withoutContext,
            modeGate: gateOf(admitted, transitions),
            edges: edges.map(([from, to]) => ({ ...template, from, to, exit: `to-${to}` })),
          } as SpecSet;
          const peripheral = { visit: visitTo(PERIPHERALS[0]!), visits: { [PERIPHERALS[0]!]: 1 } };
          const view = viewOf({ mode, ...peripheral, naturalClose: true });
          const found = shortestWay(specs, view, new Set([to]), 'act');
          const alone = least(specs, PERIPHERALS[0]!, mode, to, false);
          const opened = alone === Number.POSITIVE_INFINITY;
          const count = opened ? least(specs, PERIPHERALS[0]!, mode, to, true) : alone;
          if (found === null) {
            expect(count).toBe(Number.POSITIVE_INFINITY);
            return;
          }
          let now = mode;
          const change = (steps: readonly { to: Mode; needs: readonly string[] }[] = []) => {
            for (const { to, needs } of steps) {
              const isReset = needs.includes('a reset by operator');
              if (isReset) expect([opened, to]).toEqual([true, specs.modeGate!.reset]);
              else expect(transitions).toContainEqual([now, to]);
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
          expect(effectsOfMode(specs.modeGate!, now)).toContain('act');
          expect(moves).toBe(count);
          if (found.length > 1) longer += 1;
          if (opened) byReset += 1;
        },
      ),
      { numRuns: depth(300, 1500) },
    );
    expect(longer).toBeGreaterThan(depth(5, 20));
    expect(byReset).toBeGreaterThan(depth(5, 20));
  });

  const refusalText = (specs: SpecSet, mode: Mode, tool: string) => {
    const view = viewOf({ mode, visit: visitTo('explore'), visits: { explore: 1 } });
    const decision = decide(contextOf(view, specs), { kind: 'step', tool, args: {} });
    return decision.ok ? 'allowed' : decision.denial.remedy;
  };
  const lists = (diagnose: string[] | null, execute: string[] | null): SpecSet => ({
    ...fixtureSpecs,
    modeGate: { ...fixtureSpecs.modeGate, peripherals: { diagnose, execute } } as never,
  });

  it('is named when a tool of another peripheral is refused, with the mode change where it is needed', () => {
    expect(refusalText(lists(null, null), 'diagnose', 'write')).toMatch(
      /path: call mode\(\{"to":"execute".*then hop to edit/,
    );
    expect(refusalText(lists(null, ['explore']), 'diagnose', 'write')).toMatch(
      /path: hop to edit with exit [\w-]+.*, then call mode\(\{"to":"execute"/,
    );
    expect(refusalText(lists(['edit'], null), 'execute', 'write')).toMatch(/path: hop to edit/);
  });

  it('names the reset by the operator if only the reset opens the path', () => {
    const onlyForward = {
      ...fixtureSpecs.modeGate!,
      transitions: [{ from: 'discuss', to: 'execute', approval: null, summary: false }],
    };
    const stuck = (peripherals: { readonly [mode: string]: readonly string[] }): SpecSet => ({
      ...fixtureSpecs,
      modeGate: { ...onlyForward, peripherals } as never,
    });
    expect(refusalText(stuck({}), 'diagnose', 'write')).toMatch(
      /path: ask the operator to reset the mode to discuss, then call mode\(\{"to":"execute","reason":"…"\}\), then hop to edit/,
    );
    expect(refusalText(stuck({}), 'execute', 'write')).not.toContain('reset');
    const inEdit = (request: Parameters<typeof decide>[1]) => {
      const view = viewOf({ mode: 'diagnose', visit: visitTo('edit'), visits: { edit: 1 } });
      const decision = decide(contextOf(view, stuck({})), request);
      return decision.ok ? 'allowed' : decision.denial.remedy;
    };
    const way = /[Aa]sk the operator to reset the mode to discuss, then call mode\(\{"to":"execute","reason":"…"\}\)/;
    expect(inEdit({ kind: 'step', tool: 'write', args: {} })).toMatch(way);
    expect(inEdit({ kind: 'mode', to: 'execute', by: 'agent' })).toMatch(way);
    expect(inEdit({ kind: 'mode', to: 'discuss', by: 'agent' })).toMatch(
      /Ask the operator to reset the mode to discuss\.$/,
    );
  });
});
