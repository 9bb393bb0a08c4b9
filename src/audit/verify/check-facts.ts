import { type Fields, fieldsOf } from '../../base/json.ts';
import type { Json } from '../../spec/types.ts';
import {
  doesConditionHold,
  hasHadVisit,
  isAtNaturalClose,
  type JudgedState,
  stateMeetsRule,
} from '../rules/judged-state.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { AuditReport } from './audit-report.ts';

/** The conditions, rules, approval and summary that decided a request, and that its entry must record as facts. */
interface DecidedFacts {
  readonly conditions?: readonly string[];
  readonly when?: readonly string[];
  readonly approved?: boolean;
  readonly summary?: string | null;
}

/** The facts that an entry must record for a request that is judged by this state. */
function factsOf(
  judged: JudgedState,
  { conditions = [], when = [], approved = false, summary = null }: DecidedFacts,
): Fields {
  const { state, by, visit, fruit } = judged;
  return {
    by,
    source: visit?.peripheral ?? null,
    agent: state.agent,
    firstVisit: !hasHadVisit(state),
    atSessionClose: hasHadVisit(state) && visit === null,
    naturalClose: isAtNaturalClose(judged),
    fruit: { ...fruit },
    conditions: Object.fromEntries(conditions.map((name) => [name, doesConditionHold(judged, name)])),
    when: Object.fromEntries(when.map((cel) => [cel, stateMeetsRule(judged, cel)])),
    approved,
    summary,
    patterns: { ...state.patterns },
  };
}

/** Reports each fact of an entry that differs from the facts that the earlier entries imply. */
export function checkEntryFacts(
  claimed: Fields | null,
  judged: JudgedState,
  decided: DecidedFacts,
  report: AuditReport,
): void {
  const recorded = fieldsOf(claimed as Json);
  const facts = factsOf(judged, decided);
  for (const name of new Set([...Object.keys(facts), ...Object.keys(recorded)]))
    report.compare('facts', `the fact ${name}`, facts[name], recorded[name], NEEDS_HISTORY);
}
