import { describe, expect, it } from 'vitest';
import { isCelRuleTrue } from '../../src/audit/rules/audited-cel.ts';
import { predictVisitFruit } from '../../src/gate/fruit.ts';
import { evaluateRule, explainRule } from '../../src/gate/requirements/evaluate-rule.ts';
import { collectCelFacts } from '../../src/gate/requirements/requirement-facts.ts';
import { checkCelRule } from '../../src/spec/cel-facts.ts';
import type { FruitType, Json, PeripheralSpec } from '../../src/spec/types.ts';
import { fixtureSpecs, viewOf, visitTo } from './views.ts';

const edit = fixtureSpecs.peripherals['edit']!;
const withFruit = (fruit: PeripheralSpec['fruit']): PeripheralSpec => ({ ...edit, fruit });

describe('predictVisitFruit', () => {
  it('gives null for each observed field without an observation', () => {
    expect(predictVisitFruit(fixtureSpecs.peripherals['test']!, {}, {})).toEqual({
      fruit: { result: null, 'test-count': null, failures: null },
      problems: [],
    });
  });
  it.each<[FruitType, Json, Json]>([
    ['string', 'a', 1],
    ['integer', 3, 3.5],
    ['number', 3.5, '3.5'],
    ['boolean', false, 'false'],
    ['list', [], {}],
    ['object', {}, []],
    ['object', { a: 1 }, null],
    [['low', 'high'], 'low', 'middle'],
  ])('checks a stated field of type %j', (type, good, bad) => {
    const spec = withFruit({ it: { kind: 'stated', type, optional: false } });
    expect(predictVisitFruit(spec, {}, { it: good })).toEqual({ fruit: { it: good }, problems: [] });
    expect(predictVisitFruit(spec, {}, { it: bad }).problems).toMatchObject([
      { field: 'it', problem: expect.stringContaining('the value must be') },
    ]);
  });
  it('requires every stated field that is not optional', () => {
    const spec = withFruit({
      it: { kind: 'stated', type: 'string', optional: false },
      or: { kind: 'stated', type: 'string', optional: true },
    });
    expect(predictVisitFruit(spec, {}, {})).toEqual({
      fruit: {},
      problems: [{ field: 'it', problem: 'the field is missing; state it (string)', isMissing: true }],
    });
  });
  it('reports every problem together', () => {
    const { problems } = predictVisitFruit(
      edit,
      { changes: 1 },
      { changes: 2, 'commit-message': 3, colour: 'red', constructor: 1 },
    );
    expect(problems.map(({ field }) => field).toSorted()).toEqual([
      'changes',
      'colour',
      'commit-message',
      'constructor',
    ]);
  });
  it('lets the agent repeat an observed value but not change it', () => {
    expect(predictVisitFruit(edit, { changes: 1 }, { changes: 1 }).problems).toEqual([]);
    expect(predictVisitFruit(edit, {}, { changes: 0 }).problems).toHaveLength(1);
  });
});

describe('a CEL condition', () => {
  const view = viewOf({
    visit: visitTo('edit', { steps: 2 }),
    steps: 5,
    visits: { edit: 1, explore: 2 },
    backpack: { 'target-files': ['a'] },
    tests: { passed: true, count: 1, failed: 0 },
  });
  const facts = collectCelFacts(view, { 'test-count': 3, result: 'pass', ratio: 0.5, nothing: null });
  it.each<[string, boolean]>([
    ['fruit.test_count > 2', true],
    ['fruit.test_count > 3', false],
    ["fruit.result == 'pass'", true],
    ['fruit.ratio < 0.6', true],
    ['session.steps == 5 && session.visits == 3', true],
    ['visit.steps == 2', true],
    ["visit.peripheral == 'edit'", true],
    ['tests.passed', true],
    ['size(backpack.target_files) == 1', true],
    ['visits.explore == 2', true],
    // A peripheral that was not visited has no visits.
    ['visits.deploy == 0', true],
    ['visits["deploy"] < 1 && visits.explore > 1', true],
    // Absent facts, types that do not fit, values that are not true, no rule at all: denied.
    ['fruit.absent > 0', false],
    ['fruit.absent == fruit.absent', false],
    ['fruit.nothing > 0', false],
    ["fruit.test_count > 'a'", false],
    ['fruit.test_count', false],
    ['fruit.result', false],
    ['stranger == 1', false],
    ['visits.deploy > 0', false],
    ['1 / 0 == 1', false],
    ['((', false],
    ['', false],
  ])('has the result of its rule: %s is %s', (rule, expected) => {
    expect(evaluateRule(rule, facts)).toBe(expected);
    expect(evaluateRule(rule, facts)).toBe(expected);
  });
  it('may spell a fruit field with _ instead of -', () => {
    expect(
      evaluateRule(
        "backpack.plan.first_step == 'a-b'",
        collectCelFacts(viewOf({ backpack: { plan: { 'first-step': 'a-b' } } }), {}),
      ),
    ).toBe(true);
  });
  it.each([
    ['args.amount * 1.5 <= 12', 8],
    ['10 * args.amount == 75', 7.5],
    ['args.amount - 0.5 > 6 && 1 + args.amount < 9', 7],
    ['args.amount / 2.0 == 3.5', 7],
    ['7 / 2 == 3 && args.amount > 0', 1],
  ])('calculates with whole numbers and fractions: %s', (rule, amount) => {
    const facts = collectCelFacts(view, {}, { amount });
    expect(evaluateRule(rule, facts)).toBe(true);
    expect(isCelRuleTrue(rule, facts)).toBe(true);
    expect(checkCelRule(rule, { fruit: {}, peripherals: [], args: { amount: { type: 'integer' } } })).toBeNull();
  });
  it.each([
    { 'max-amount': 10, max_amount: 5000 },
    { max_amount: 10, 'max-amount': 5000 },
  ])('does not hold for %j, in which two names become equal with _', (limits) => {
    const facts = collectCelFacts(view, {}, { limits });
    expect(evaluateRule('args.limits.max_amount <= 500', facts)).toBe(false);
    expect(isCelRuleTrue('args.limits.max_amount <= 500', facts)).toBe(false);
  });
});

describe('explainRule', () => {
  const late = ', because the fruit of this visit joins the backpack only at its end';
  it.each([
    ['fruit.order_id == "x"', ''],
    ['fruit.order_id == "backpack.weight"', ''],
    ['size(fruit.note) > 0', ': fruit.note has no value'],
    ['backpack.weight > 2 && args.dose < 9', ': backpack.weight and args.dose have no value'],
    ['backpack.order_id == "x"', `: backpack.order_id has no value${late}`],
    ['fruit.order_id > 3', ': it cannot be evaluated (no such overload: dyn<string> > int)'],
  ])('explains %j with %j', (rule, expected) => {
    const facts = collectCelFacts(viewOf({}), { 'order-id': 'a', note: null });
    expect(explainRule(rule, facts)).toBe(expected);
  });
});
