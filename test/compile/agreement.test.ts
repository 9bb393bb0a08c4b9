import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileSpecs } from '../../src/compile/compile-specs.ts';
import type { RequirementFacts } from '../../src/gate/requirements/requirement.ts';
import type { Edge, GateRule, SpecSet } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import { inState } from './advance.ts';
import { facts } from './facts.ts';
import { EXITS, IDS, id, specs } from './random-specs.ts';

const some: fc.Arbitrary<Partial<RequirementFacts>> = fc.record({
  by: fc.constantFrom('agent', 'operator', 'clock'),
  agent: fc.constantFrom('claude', 'codex'),
  firstVisit: fc.boolean(),
  atSessionClose: fc.boolean(),
  naturalClose: fc.boolean(),
  fruit: fc.constantFrom<RequirementFacts['fruit']>({}, { result: 'pass' }, { result: 'fail' }),
  conditions: fc.dictionary(fc.constantFrom('tests-passed', 'calm'), fc.boolean()),
  when: fc.dictionary(fc.constantFrom('fruit.n > 0', 'visit.steps > 1'), fc.boolean()),
  approved: fc.boolean(),
  patterns: fc.dictionary(fc.constant('p'), fc.constantFrom('selected', 'held', 'failed')),
});

/** Judges the entry of a peripheral by the rules of the spec reference, without the code under test. */
function admits(target: string, { peripherals }: SpecSet, now: RequirementFacts): boolean {
  const peripheral = peripherals[target];
  if (!peripheral) return false;
  const outside = now.source === null;
  const names = peripheral.entry.sources.map((source) =>
    source.kind === 'from' ? `from-${source.peripheral}` : source.kind,
  );
  const open =
    (names.includes('default') && now.firstVisit && outside) ||
    (names.includes('from-any') && !outside) ||
    names.includes(`from-${now.source}`) ||
    (names.includes('user-request') && now.by === 'operator') ||
    (names.includes('session-close') && now.atSessionClose) ||
    (names.includes('agent-request') && !outside && now.by === 'agent' && now.naturalClose);
  const natural =
    outside || !names.includes('agent-request') || now.by !== 'agent' || now.naturalClose || now.atSessionClose;
  const conditions = peripheral.entry.conditions.every((name) => now.conditions[name] === true);
  return open && natural && conditions && (peripheral.agents === null || peripheral.agents.includes(now.agent));
}

function gateOpens(rule: GateRule, now: RequirementFacts): boolean {
  if (rule.kind === 'approval') return now.approved;
  if (rule.kind === 'when') return now.when[rule.cel] === true;
  const standing = now.patterns[rule.pattern];
  return rule.is === 'held' ? standing === 'held' : standing !== undefined;
}

function edgeOpens({ to, when, implies, gates }: Edge, set: SpecSet, now: RequirementFacts): boolean {
  if (implies && now.fruit[implies.field] !== implies.value) return false;
  if (when !== null && now.when[when] !== true) return false;
  return admits(to, set, now) && gates.every((rule) => gateOpens(rule, now));
}

it('the machine makes a hop exactly if the spec has the edge and every requirement is met', () => {
  let opened = 0;
  fc.assert(
    fc.property(specs, id, some, (set, from, partial) => {
      const now = facts({ ...partial, source: from, firstVisit: false });
      const { hopGraph } = compileSpecs(set);
      const snapshot = inState(hopGraph, from);
      for (const exit of EXITS) {
        for (const to of IDS) {
          const edge = set.edges.find((each) => each.from === from && each.exit === exit && each.to === to);
          const expected = edge !== undefined && edgeOpens(edge, set, now);
          expect(snapshot.can({ type: `${exit}.${to}`, facts: now })).toBe(expected);
          if (expected) opened++;
        }
      }
    }),
    { numRuns: depth(80, 300) },
  );
  expect(opened).toBeGreaterThan(0);
});

it('the machine makes a start exactly if the entry admits it from outside', () => {
  let opened = 0;
  fc.assert(
    fc.property(specs, id, some, (set, to, partial) => {
      const now = facts({ ...partial, source: null });
      const { hopGraph } = compileSpecs(set);
      const expected = admits(to, set, now);
      expect(inState(hopGraph, 'outside').can({ type: `start.${to}`, facts: now })).toBe(expected);
      if (expected) opened++;
    }),
    { numRuns: depth(80, 300) },
  );
  expect(opened).toBeGreaterThan(0);
});
