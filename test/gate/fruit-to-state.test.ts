import { describe, expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { loadBuiltInCatalogue } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { Fields } from '../../src/spec/types.ts';
import { contextOf, viewOf, visitTo } from './views.ts';

const DESK = `id: desk
purpose: Answer.
tools: []
scope: conversation
entry: [default, from-shelf]
exit: { plan: { to: shelf, when: 'fruit.the_question != "" && has(fruit.seen)' } }
fruit: { note: { stated: string }, the-question: { stated: string, optional: true }, seen: { observed: list, from: found } }
`;
const SHELF = 'id: shelf\npurpose: Look.\ntools: []\nscope: conversation\nentry: from-desk\nexit: { back: desk }\n';
const SETS = {
  rule: DESK,
  gate: DESK.replace(/exit: .*/, 'exit: { plan: shelf }\ngates: { shelf: [{ when: fruit.the_question != "" }] }'),
};

const catalogue = await loadBuiltInCatalogue();
function hop(desk: string, fruit: Fields) {
  const parsed = parseSpecSet(
    [
      { file: 'peripherals/desk.yaml', text: desk },
      { file: 'peripherals/shelf.yaml', text: SHELF },
    ],
    catalogue,
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const view = viewOf({ mode: null, visit: visitTo('desk', { observedFruit: { seen: [] } }), visits: { desk: 1 } });
  const request = { kind: 'hop', to: 'shelf', exit: 'plan', reason: 'x', by: 'agent', fruit } as const;
  const decision = decide(contextOf(view, parsed.specs), request);
  return decision.ok ? 'allowed' : decision.denial.remedy;
}

describe('the remedy of a hop', () => {
  it('without a required field shows how to state it', () => {
    expect(hop(DESK, {})).toBe('Call again with fruit: {"note": "…"}.');
    expect(hop(DESK, { note: 5 })).toBe('Correct the stated fields and call again.');
  });

  it.each(['rule', 'gate'] as const)('without a field that a %s reads shows how to state it', (kind) => {
    expect(hop(SETS[kind], { note: 'a' })).toMatch(
      /^Repeat the hop with fruit: \{"the-question": "…"\}, for which the rule .* holds/,
    );
    expect(hop(SETS[kind], { note: 'a', 'the-question': 'where?' })).toBe('allowed');
    expect(hop(SETS[kind], { note: 'a', 'the-question': '' })).toMatch(/^Continue until the rule/);
  });
});
