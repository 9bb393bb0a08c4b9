import { factOf, partsOfRule } from '../../audit/properties/can-rule-hold.ts';
import { type AuditedPin, type AuditState, testFactsOf } from '../../audit/rules/audit-state.ts';
import { evaluateCel, nodesOf, printCelNode } from '../../audit/rules/audited-cel.ts';
import { observedValue } from '../../audit/rules/audited-observations.ts';
import type { TestRuns } from '../../audit/rules/test-runs.ts';
import { computeVisitFruit } from '../../audit/rules/visit-problems.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { isBlank } from '../../base/text.ts';
import type { Fields, Json, PeripheralSpec } from '../../spec/types.ts';
import { CEL_RULE_SEPARATOR, joinCelRules } from './cel-rules-text.ts';

/** Matches the facts of a rule that are counters. */
const COUNTED =
  /\b(session\.steps|session\.denials|session\.visits|visit\.steps|visit\.denials|tests\.count|tests\.failed|visits\.[a-z0-9_]+)\b/g;

type ValueKeyFunction = (field: string, value: Json) => string | null;

/**
 * Returns a function that gives two values of a field the same key if no rule distinguishes them; null if no rule reads
 * the field. A part of a rule that reads only this field distinguishes values by its result; any other part
 * distinguishes all values.
 */
function makeValueKeyFunction(rules: string, root: 'fruit' | 'backpack'): ValueKeyFunction {
  const partsByField = new Map<string, Set<string> | 'all values'>();
  for (const part of rules.split(CEL_RULE_SEPARATOR).flatMap(partsOfRule)) {
    const facts = nodesOf(part).flatMap((node) => factOf(node) ?? []);
    const isAlone = facts.every((fact) => fact.root === root && fact.name === facts[0]!.name);
    for (const { name } of facts.filter((fact) => fact.root === root)) {
      const parts = getOrInsert(partsByField, name, () => new Set<string>());
      if (!isAlone) partsByField.set(name, 'all values');
      else if (parts !== 'all values') parts.add(printCelNode(part));
    }
  }
  const results = new Map<string, string>();
  return (field, value) => {
    const name = field.replaceAll('-', '_');
    const parts = partsByField.get(name);
    if (parts === undefined) return null;
    const text = JSON.stringify(value);
    if (parts === 'all values') return text;
    return getOrInsert(results, `${name} ${text}`, () => {
      const none = { session: {}, visit: {}, visits: {}, tests: {}, args: {}, fruit: {}, backpack: {} };
      return [...parts].map((part) => String(evaluateCel(part, { ...none, [root]: { [name]: value } }))).join(' ');
    });
  };
}

/** The fields that rules read, each with the key of its value. */
const keysOf = (fields: Fields, keyOf: ValueKeyFunction) =>
  Object.entries(fields).flatMap(([field, value]) => {
    const key = keyOf(field, value);
    return key === null ? [] : [[field, key]];
  });

/**
 * Returns a function that gives two states the same key if no rule of a spec set distinguishes them.
 * @param isRough if true, the key omits the visited peripherals and their fruits, which give exponentially many keys
 */
export function makeStateKeyFunction({ specs }: AuditedPin, isRough = false): (state: AuditState) => string {
  const rules = joinCelRules(specs);
  const sources = [
    ...new Set(
      Object.values(specs.peripherals).flatMap(({ context }) =>
        Object.entries(context).flatMap(([field, { source, optional }]) =>
          source.kind === 'fruit' && !optional && !isRough ? [JSON.stringify([source.peripheral, field])] : [],
        ),
      ),
    ),
  ].map((pair) => JSON.parse(pair) as [string, string]);
  const inherited = [
    ...new Set(
      Object.values(specs.peripherals).flatMap(({ context }) =>
        Object.entries(context).flatMap(([field, { source, optional }]) =>
          source.kind === 'inherit' && !optional && field !== 'session-id' ? [field] : [],
        ),
      ),
    ),
  ];
  // No rule distinguishes values of a counter above the largest number in the rules that read it.
  const most = new Map<string, number>();
  for (const rule of rules.split(CEL_RULE_SEPARATOR))
    for (const name of rule.match(COUNTED) ?? []) {
      const numbers = (rule.match(/\d+/g) ?? []).map(Number).filter((count) => count < 1000);
      most.set(name, Math.max(1, most.get(name) ?? 0, ...numbers));
    }
  const capped = (name: string, count: number) => (most.has(name) ? Math.min(count, most.get(name)! + 1) : 0);
  const visitsOf = (id: string) => `visits.${id.replaceAll('-', '_')}`;
  const countedVisits = new Set(Object.keys(specs.peripherals).filter((id) => !isRough && most.has(visitsOf(id))));
  const fruitKey = makeValueKeyFunction(rules, 'fruit');
  const backpackKey = makeValueKeyFunction(rules, 'backpack');
  const readsFields = sources.length + inherited.length > 0 || /\b(fruit|backpack)\b/.test(rules);
  const isGiven = (value: unknown) => (value ?? null) !== null && !isBlank(value);
  return (state) => {
    const { visit, mode, closed, visits, fruits, backpack, patterns } = state;
    const tests = testFactsOf(state);
    const spec = visit && specs.peripherals[visit.peripheral];
    const implied = spec?.exits.some(({ implies }) => implies !== null);
    const observed = visit?.observations;
    const verdicts =
      implied && observed
        ? [observedValue(observed, 'result'), ...[state.tests, observed.runs].map(testVerdictsOf)]
        : [];
    const fruit = spec && (readsFields || implied) ? computeVisitFruit(state, {}) : {};
    return JSON.stringify([
      closed,
      mode,
      visit?.peripheral ?? null,
      visit?.expired ?? false,
      Object.keys(visits).length > 0,
      state.successes > 0,
      tests.passed,
      tests.failed > 0,
      verdicts,
      [...state.checks].sort(),
      spec && observed ? impliedFields(spec).map((field) => fruit[field] ?? null) : [],
      patterns,
      sources.map(([from, field]) => isGiven((from === visit?.peripheral ? fruit : fruits[from])?.[field])),
      inherited.map((field) => isGiven(fruit[field]) || isGiven(backpack[field])),
      capped('session.steps', state.steps),
      capped('session.denials', state.denials),
      most.has('session.visits') && capped('session.visits', sum(Object.values(visits))),
      capped('visit.steps', visit?.steps ?? 0),
      capped('visit.denials', visit?.denials ?? 0),
      capped('tests.count', tests.count),
      // The key omits peripherals without visits, because a rule of a large set may count the visits of hundreds.
      Object.keys(visits)
        .filter((id) => countedVisits.has(id))
        .sort()
        .map((id) => [id, capped(visitsOf(id), visits[id]!)]),
      keysOf(fruit, fruitKey),
      // The fruit of a visit joins the backpack at the end of the visit.
      keysOf({ ...backpack, ...fruit }, backpackKey),
      keysOf(backpack, backpackKey),
    ]);
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** The observed fields on which exits of a peripheral depend. */
const impliedFields = ({ exits, fruit }: PeripheralSpec): readonly string[] => [
  ...new Set(
    exits.flatMap(({ implies }) => (implies && fruit[implies.field]?.kind === 'observed' ? [implies.field] : [])),
  ),
];

const testVerdictsOf = ({ commands }: TestRuns) =>
  [...commands.values()].map(({ last, lastFull, passed, failed }) => [last.verdict, lastFull, passed, failed]);
