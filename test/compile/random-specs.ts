import fc from 'fast-check';
import { splitWords } from '../../src/base/text.ts';
import type { GateRule, SpecSet } from '../../src/spec/types.ts';
import { type Sketch, specSet } from './specs.ts';

export const IDS = ['one', 'two', 'three'];
export const EXITS = ['pass', 'fail', 'hop-one'];
export const id = fc.constantFrom(...IDS);
const entryName = fc.constantFrom(
  ...splitWords('default from-any user-request agent-request session-close tests-passed calm'),
  ...IDS.map((each) => `from-${each}`),
);
const gate: fc.Arbitrary<GateRule> = fc.oneof(
  fc.constant<GateRule>({ kind: 'approval', by: 'operator' }),
  fc.constant<GateRule>({ kind: 'when', cel: 'fruit.n > 0' }),
  fc.record({
    kind: fc.constant('pattern' as const),
    pattern: fc.constant('p'),
    is: fc.constantFrom('selected' as const, 'held' as const),
  }),
);
const destination = fc.oneof(id, fc.record({ to: id, when: fc.constant('visit.steps > 1') }));
const sketch: fc.Arbitrary<Sketch> = fc.record(
  {
    entry: fc.uniqueArray(entryName, { minLength: 1, maxLength: 4 }),
    exits: fc.dictionary(
      fc.constantFrom(...EXITS),
      fc.uniqueArray(destination, { maxLength: 3, selector: (to) => (typeof to === 'string' ? to : to.to) }),
    ),
    gates: fc.dictionary(id, fc.array(gate, { minLength: 1, maxLength: 2 }), { maxKeys: 2 }),
    agents: fc.constantFrom(['claude'], ['codex'], ['codex', 'claude']),
    results: fc.constant(['pass', 'fail']),
  },
  { requiredKeys: ['entry', 'exits'] },
);

/** Small spec sets whose entries, exits and gates use everything that an edge can need. */
export const specs: fc.Arbitrary<SpecSet> = fc.record({ one: sketch, two: sketch, three: sketch }).map((sketches) => ({
  ...specSet(sketches),
  conditions: { calm: 'session.denials == 0' },
}));
