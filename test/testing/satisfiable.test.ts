import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canRuleHold, stringLiteralsInRule } from '../../src/audit/properties/can-rule-hold.ts';
import { isCelRuleTrue } from '../../src/audit/rules/audited-cel.ts';
import { depth } from '../depth.ts';
import { specsOf } from './spec-sets.ts';

describe('a rule that can hold is never called unsatisfiable', () => {
  const FRUIT = '{ n: { stated: integer }, x: { stated: number }, t: { stated: string }, l: { stated: list } }';
  const specs = specsOf({
    'peripherals/a.yaml': `id: a\npurpose: A peripheral.\ntools: [read]\nscope: full-codebase\nentry: [default]\nexit: {}\nfruit: ${FRUIT}\nlimits: { steps: 9 }\n`,
  });
  const NOW = { agent: 'ann', peripheral: 'a', mode: 'execute', begun: true, testsPassed: true };

  it.each([
    'fruit.n > 100 && fruit.n % 10 == 5',
    'fruit.n * 3 == 21',
    'fruit.n < -7 && fruit.n > -9',
    'fruit["n"] == 12',
    'fruit.x > 0.5 && fruit.x < 0.6',
    'fruit.t > "m" && fruit.t < "n"',
    'fruit.t.startsWith("ab") && size(fruit.t) > 3',
    'fruit.t == "a" + "b"',
    'size(fruit.l) == 7 && "a" in fruit.l && "b" in fruit.l',
    'fruit.l == ["a", "b"]',
    'visit.steps > 2 && visit.steps % 7 == 5',
    'fruit.n > 3 ? fruit.t == "x" : session.mode == "none"',
    'session["agent"] == "ann"',
  ])('such as %s', (cel) => expect(canRuleHold(specs, cel, NOW)).toBe(true));

  it.each([
    'fruit.n > 2 && fruit.n < 3',
    'fruit.n * 3 == 21 && fruit.n * 3 == 22',
    'fruit.t == "a" && fruit.t == "b"',
    'fruit.t in ["a", "b"] && fruit.t == "c"',
    'size(fruit.l) < 0',
    'has(fruit.t) && !has(fruit.t)',
    'visit.steps > 9',
    'session.mode == "discuss" || !tests.passed',
    'session["agent"] == "bob"',
    'session.agent == fruit.t && session.agent != "ann"',
  ])('unlike the impossible rule %s', (cel) => expect(canRuleHold(specs, cel, NOW)).toBe(false));

  it('at the first start, unlike a rule that needs an earlier visit or step', () => {
    const first = { ...NOW, peripheral: null, begun: false, testsPassed: false };
    for (const cel of ['visits.a > 0', 'visit.steps > 0', 'session.steps > 0', 'tests.count > 0', 'visits["a"] != 0'])
      expect(canRuleHold(specs, cel, first), cel).toBe(false);
    for (const cel of ['visits.a == 0', 'session.denials > 0']) expect(canRuleHold(specs, cel, first), cel).toBe(true);
  });

  it('for an agent that no rule names, also before the first name in the alphabet', () => {
    const other = { ...NOW, agent: null };
    expect(canRuleHold(specs, 'session.agent < "c" && fruit.t != ""', other)).toBe(true);
    expect(canRuleHold(specs, 'session.agent == "c" && fruit.t != ""', other)).toBe(false);
  });

  it('for random rules and facts', () => {
    const number = fc.integer({ min: -3, max: 12 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 3 });
    const compared = (term: string, value: fc.Arbitrary<string>) =>
      fc
        .tuple(fc.constantFrom('==', '!=', '<', '>', '<=', '>='), value, fc.boolean())
        .map(([sign, other, turned]) => (turned ? `${other} ${sign} ${term}` : `${term} ${sign} ${other}`));
    const NUMBERS = ['fruit.n', 'fruit["n"]', 'fruit.n % 4', 'fruit.n + fruit.n', 'size(fruit.t)', 'session.steps'];
    const leaf = fc.oneof(
      fc.constantFrom(...NUMBERS).chain((term) => compared(term, number.map(String))),
      compared(
        'fruit.x',
        fc.tuple(number, fc.nat(9)).map(([whole, part]) => `${whole}.${part}`),
      ),
      compared(
        'fruit.t',
        text.map((value) => JSON.stringify(value)),
      ),
      compared(
        'session.agent',
        text.map((value) => JSON.stringify(value)),
      ),
      text.map((value) => `fruit.t.contains(${JSON.stringify(value)})`),
      fc.array(text).map((list) => `fruit.t in ${JSON.stringify(list)}`),
    );
    const { rule } = fc.letrec<{ rule: string }>((tie) => ({
      rule: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.tuple(tie('rule'), fc.constantFrom('&&', '||'), tie('rule')).map((parts) => `(${parts.join(' ')})`),
        tie('rule').map((inner) => `!(${inner})`),
        fc.tuple(tie('rule'), tie('rule'), tie('rule')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      ),
    }));
    const facts = fc.record({ n: number, x: fc.integer({ min: -30, max: 120 }).map((x) => x / 10), t: text });
    let held = 0;
    fc.assert(
      fc.property(rule, facts, fc.nat(12), text, fc.boolean(), (cel, fruit, steps, agent, isNamed) => {
        const empty = { visit: {}, tests: {}, backpack: {}, visits: {}, args: {} };
        if (!isCelRuleTrue(cel, { ...empty, fruit, session: { steps, agent } })) return;
        held += 1;
        // An agent that the rule names is known by its name.
        const known = isNamed || stringLiteralsInRule(cel).includes(agent) ? agent : null;
        expect(canRuleHold(specs, cel, { ...NOW, agent: known }), cel).toBe(true);
      }),
      { numRuns: depth(300, 8000) },
    );
    expect(held).toBeGreaterThan(depth(60, 2000));
  }, 300_000);
});
