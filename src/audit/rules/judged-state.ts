import { getOrInsert } from '../../base/get-or-insert.ts';
import type { Fields } from '../../base/json.ts';
import { getOwn } from '../../spec/names.ts';
import { checkFieldOfCondition } from '../../spec/reported-fields.ts';
import { type Principal, TESTS_PASSED_CONDITION } from '../../spec/types.ts';
import { type AuditState, type StateBeforeStop, testFactsOf } from './audit-state.ts';
import { isCelRuleTrue } from './audited-cel.ts';

/** The state by which a request is judged, and the request's principal. For a hop, it is the state before the stop. */
export interface JudgedState extends StateBeforeStop {
  readonly state: AuditState;
  readonly by: Principal;
}

/** The state for a request that leaves no visit: a start, or a change of mode. */
export const toJudgedState = (state: AuditState, by: Principal): JudgedState => {
  const { visit, backpack, successes } = state;
  return { state, by, visit, fruit: {}, backpack, successes };
};

/** True if a step succeeded since the last review and no step is pending. */
export const isAtNaturalClose = ({ state, successes }: JudgedState): boolean => successes > 0 && state.pending === null;

export const hasHadVisit = ({ visit, visits }: AuditState): boolean => visit !== null || Object.keys(visits).length > 0;

const noVisits = new WeakMap<object, Map<string, Fields>>();

/** 0 visits for each peripheral that a rule names. */
function neverVisited({ pinned }: AuditState, cel: string): Fields {
  if (!cel.includes('visits')) return {};
  const { peripherals } = pinned.specs;
  return getOrInsert(
    getOrInsert(noVisits, peripherals, () => new Map<string, Fields>()),
    cel,
    () => {
      const named = Object.keys(peripherals).filter((id) => cel.includes(id.replaceAll('-', '_')));
      return Object.fromEntries(named.map((id) => [id, 0]));
    },
  );
}

/** @param args the arguments of the call, for a rule about a call */
export function stateMeetsRule(
  { state, visit, fruit, backpack }: JudgedState,
  cel: string,
  args: Fields = {},
): boolean {
  const peripheral = visit?.peripheral ?? null;
  const { agent, steps, denials, mode, visits } = state;
  return isCelRuleTrue(cel, {
    args,
    fruit,
    session: {
      agent,
      steps,
      visits: Object.values(visits).reduce((sum, count) => sum + count, 0),
      denials,
      mode,
      peripheral,
    },
    visit: { steps: visit?.steps ?? 0, denials: visit?.denials ?? 0, peripheral },
    tests: { ...testFactsOf(state) },
    backpack,
    visits: { ...neverVisited(state, cel), ...visits },
  });
}

export function doesConditionHold(judged: JudgedState, name: string): boolean {
  if (name === TESTS_PASSED_CONDITION) return testFactsOf(judged.state).passed;
  const check = checkFieldOfCondition(judged.state.pinned.specs, name);
  if (check !== undefined) return judged.state.checks.has(check);
  const rule = getOwn(judged.state.pinned.specs.conditions, name);
  return rule !== undefined && stateMeetsRule(judged, rule);
}
