import type { Json } from '../../spec/types.ts';
import { type Fields, fieldsOf, sameJson, showValue } from '../rules/compare-json.ts';
import { atNaturalClose, conditionHolds, type JudgedState, ruleHolds, wasVisited } from '../rules/judged-state.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { AuditReport } from './audit-report.ts';

/** The conditions, rules, approval and summary of a decision, which the facts of its entry must contain. */
interface DecidedFacts {
  readonly conditions?: readonly string[];
  readonly when?: readonly string[];
  readonly approved?: boolean;
  readonly summary?: string | null;
}

/** The facts that an entry must hold if it is judged by this state. */
function factsOf(
  judged: JudgedState,
  { conditions = [], when = [], approved = false, summary = null }: DecidedFacts,
): Fields {
  const { state, by, visit, fruit } = judged;
  return {
    by,
    source: visit?.peripheral ?? null,
    agent: state.agent,
    firstVisit: !wasVisited(state),
    atSessionClose: wasVisited(state) && visit === null,
    naturalClose: atNaturalClose(judged),
    fruit: { ...fruit },
    conditions: Object.fromEntries(conditions.map((name) => [name, conditionHolds(judged, name)])),
    when: Object.fromEntries(when.map((cel) => [cel, ruleHolds(judged, cel)])),
    approved,
    summary,
    patterns: { ...state.patterns },
  };
}

/** The facts in an entry are claims: each must equal the value that the earlier entries give. */
export function checkFacts(
  claimed: Fields | null,
  judged: JudgedState,
  decided: DecidedFacts,
  report: AuditReport,
): void {
  const recorded = fieldsOf(claimed as Json);
  const facts = factsOf(judged, decided);
  for (const name of new Set([...Object.keys(facts), ...Object.keys(recorded)]))
    if (!sameJson(recorded[name], facts[name]))
      report.violation(
        'facts',
        `${name}: ${showValue(facts[name])}`,
        `the entry records ${name}: ${showValue(recorded[name])}`,
        NEEDS_HISTORY,
      );
}
