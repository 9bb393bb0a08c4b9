import { type AuditedPin, type AuditState, testFactsOf } from '../../audit/rules/audit-state.ts';
import { observedValue } from '../../audit/rules/audited-observations.ts';
import type { TestRuns } from '../../audit/rules/test-runs.ts';
import { computeVisitFruit } from '../../audit/rules/visit-problems.ts';
import type { PeripheralSpec } from '../../spec/types.ts';
import { CEL_RULE_SEPARATOR, joinCelRules } from './cel-rules-text.ts';

/** Matches the facts of a rule that are counters. */
const COUNTED =
  /\b(session\.steps|session\.denials|session\.visits|visit\.steps|visit\.denials|tests\.count|tests\.failed|visits\.[a-z0-9_]+|fruit\.[a-z0-9_]+|backpack\.[a-z0-9_]+|session\.mode)\b/g;
/**
 * Returns a function that gives two states the same key if no rule of a spec set distinguishes them.
 * @param isRough if true, the key omits the visited places and their fruits, which give exponentially many keys
 */
export function makeStateKeyFunction({ specs }: AuditedPin, isRough = false): (state: AuditState) => string {
  const rules = joinCelRules(specs);
  const counted = new Set(rules.match(COUNTED) ?? []);
  const counts = (name: string) => counted.has(name);
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
  // No rule distinguishes values of a counter above the largest number that a rule names.
  const compared = rules.split(CEL_RULE_SEPARATOR).filter((rule) => rule.match(COUNTED));
  const numbers = compared.flatMap((rule) => rule.match(/\d+/g) ?? []).map(Number);
  const far = Math.max(1, ...numbers.filter((count) => count < 1000)) + 1;
  const cap = (count: number) => Math.min(count, far);
  const countedVisits = Object.keys(specs.peripherals).filter(
    (id) => !isRough && counts(`visits.${id.replaceAll('-', '_')}`),
  );
  const readsFruit = [...counted].some((name) => name.startsWith('fruit.'));
  const readsBackpack = [...counted].some((name) => name.startsWith('backpack.'));
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
      spec && observed ? impliedFields(spec).map((field) => computeVisitFruit(state, {})[field] ?? null) : [],
      patterns,
      sources.map(([peripheral, field]) => (fruits[peripheral]?.[field] ?? null) !== null),
      inherited.map((field) => (backpack[field] ?? null) !== null),
      counts('session.steps') ? cap(state.steps) : 0,
      counts('session.denials') ? cap(state.denials) : 0,
      counts('session.visits') ? cap(Object.values(visits).reduce((sum, count) => sum + count, 0)) : 0,
      counts('visit.steps') ? cap(visit?.steps ?? 0) : 0,
      counts('visit.denials') ? cap(visit?.denials ?? 0) : 0,
      counts('tests.count') ? cap(tests.count) : 0,
      countedVisits.map((id) => cap(visits[id] ?? 0)),
      readsFruit && spec
        ? Object.entries(computeVisitFruit(state, {})).filter(([field]) =>
            counts(`fruit.${field.replaceAll('-', '_')}`),
          )
        : 0,
      readsBackpack
        ? Object.entries(backpack).filter(([field]) => counts(`backpack.${field.replaceAll('-', '_')}`))
        : 0,
    ]);
  };
}

/** The observed fields on which exits of a peripheral depend. */
const impliedFields = ({ exits, fruit }: PeripheralSpec): readonly string[] => [
  ...new Set(
    exits.flatMap(({ implies }) => (implies && fruit[implies.field]?.kind === 'observed' ? [implies.field] : [])),
  ),
];

const testVerdictsOf = ({ commands }: TestRuns) =>
  [...commands.values()].map(({ last, lastFull, passed, failed }) => [last.verdict, lastFull, passed, failed]);
