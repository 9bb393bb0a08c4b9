import { fieldsOf, listOf } from '../../base/json.ts';
import type { HopBody, StartBody, StopBody } from '../../evidence/bodies.ts';
import { getOwn } from '../../spec/names.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { isTestFile } from '../../spec/test-files.ts';
import type { Json } from '../../spec/types.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { hasFruitType, isSameJson, shortJson } from '../rules/compare-json.ts';
import {
  computeEntryContext,
  describeContextRule,
  gatesOnHop,
  removeSessionStateFields,
} from '../rules/entry-problems.ts';
import { type JudgedState, toJudgedState } from '../rules/judged-state.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { ApprovalAudit } from './approval-audit.ts';
import type { AuditReport } from './audit-report.ts';
import { checkEntryFacts } from './check-facts.ts';
import { type ShippingAudit, treeShownInApproval } from './shipping-audit.ts';

export interface CheckContext {
  readonly state: AuditState;
  readonly report: AuditReport;
  readonly approvals: ApprovalAudit;
  readonly shipping: ShippingAudit;
  /** The entry's time, in epoch milliseconds. */
  readonly at: number;
  /** The id of the last entry of the visit before its review and its stop; a reframe must name it. */
  readonly shownId: string | null;
  /** The refusal in the entry directly before, if the tool itself refused an allowed call. */
  readonly refused: { readonly tool: string; readonly code: string } | null;
}

/** Checks a start against its hop, the time limit, the sources of its context, and its facts. */
export function checkStart(body: StartBody, { state, report, approvals, shipping, at }: CheckContext): void {
  const { arriving, sessionId, fruits } = state;
  const { peripheral, by, deadline, context } = body;
  const target = getOwn(state.pinned.specs.peripherals, peripheral);
  shipping.checkEntry(state, peripheral, arriving ? arriving.hop.tree : body.tree);
  if (arriving && (arriving.hop.to !== peripheral || arriving.hop.by !== by)) {
    const message = `${peripheral} was started by the ${by}`;
    report.violation('lifecycle', `the hop leads to ${arriving.hop.to}`, message);
  }
  if (!target) return;
  const { minutes } = target.limits;
  const latest = minutes === null ? null : at + minutes * 60_000;
  if ((latest === null) !== (deadline === null) || (latest !== null && (deadline ?? 0) > latest))
    report.violation('limit', `limits: ${minutes ?? 'no'} minutes`, `the deadline is ${shortJson(deadline)}`);
  const sources = { sessionId, fruits, backpack: (arriving ?? state).backpack };
  const expected = computeEntryContext(
    target,
    sources,
    arriving ? {} : removeSessionStateFields(state.pinned, context),
  ).context;
  for (const field of new Set([...Object.keys(target.context), ...Object.keys(context)])) {
    const [has, source] = [context[field] ?? null, expected[field] ?? null];
    if (isSameJson(has, source)) continue;
    const message = Object.hasOwn(target.context, field)
      ? `${field} is ${shortJson(has)}, and its source has ${shortJson(source)}`
      : `the context has ${field}, but the spec does not list it`;
    report.violation('context', describeContextRule(target, field), message, { argument: field, ...NEEDS_HISTORY });
  }
  if (arriving) return approvals.checkContext(context);
  const judged = { ...toJudgedState(state, by), visit: null };
  checkEntryFacts(body.facts, judged, { conditions: target.entry.conditions }, report);
}

/** Checks a stop: its peripheral, its background commands, and that the fruit has each observed field with its type. */
export function checkStop(body: StopBody, { state, report, approvals }: CheckContext): void {
  const { peripheral, fruit, exit, ended = [] } = body;
  const { visit } = state;
  if (!visit || exit === null) approvals.drop();
  if (visit && visit.peripheral !== peripheral)
    report.violation('lifecycle', `the current visit is to ${visit.peripheral}`, `the entry stops ${peripheral}`);
  report.compare('lifecycle', 'the list of ended commands', visit?.background ?? [], ended, NEEDS_HISTORY);
  for (const [field, rule] of Object.entries(visit?.spec?.fruit ?? {})) {
    if (rule.kind !== 'observed') continue;
    const value = fruit[field];
    const constraint = `${field}: observed ${typeof rule.type === 'string' ? rule.type : rule.type.join(' | ')}`;
    const about = { argument: field };
    if (value === undefined) report.violation('fruit', constraint, `the fruit lacks ${field}`, about);
    else if (value !== null && !hasFruitType(value, rule.type))
      report.violation('fruit', constraint, `${field} is ${shortJson(value)}, which is not of this type`, about);
  }
}

/** Checks a hop against the stop before it, its approval, its reframe and its facts. */
export function checkHop(body: HopBody, { state, report, approvals, at, shownId }: CheckContext): void {
  const { leaving } = state;
  const { from, exit: name, to, reason, by } = body;
  if (!leaving) {
    report.violation(
      'lifecycle',
      'a stop must come before a hop',
      `the hop from ${from} has no stop before it`,
      NEEDS_HISTORY,
    );
    approvals.discard();
    return;
  }
  const { visit } = leaving;
  for (const [part, left, hopped] of [
    ['from', visit?.peripheral, from],
    ['exit', leaving.exit, name],
    ['reason', leaving.reason, reason],
    ['by', leaving.by, by],
  ] as const)
    report.compare('lifecycle', `${part} of the hop`, left, hopped);
  checkReframe(state, report, body, shownId);
  const ships = body.tree?.['ships'];
  const files = listOf(fieldsOf(ships)['files']).map(String);
  const subAgents = fieldsOf(fieldsOf(ships ?? body.tree)['subAgents']);
  const changes = { ...fieldsOf(subAgents['changes']), ...state.changes };
  approvals.useForHop(body.approval, at, {
    action: { kind: 'hop', from, exit: name, to },
    reason,
    view: {
      [APPROVAL_FIELD_TITLES.fruit]: { ...leaving.fruit },
      [APPROVAL_FIELD_TITLES.changes]: changes,
      [APPROVAL_FIELD_TITLES.findings]: unlessEmpty({ ...state.findings, ...fieldsOf(subAgents['findings']) }),
      [APPROVAL_FIELD_TITLES.testFiles]: unlessEmpty(
        [...new Set([...Object.keys(changes), ...files])].filter(isTestFile),
      ),
      ...treeShownInApproval(state.pinned, body.tree),
    },
  });
  const opens = visit?.spec?.exits.find((one) => one.name === name)?.opens.find((one) => one.to === to);
  const target = getOwn(state.pinned.specs.peripherals, to);
  if (!opens || !target) return;
  const gates = gatesOnHop(state.pinned, from, to);
  const when = [opens.when, ...gates.map((gate) => (gate.kind === 'when' ? gate.cel : null))];
  const judged: JudgedState = { ...leaving, state, by };
  checkEntryFacts(
    body.facts,
    judged,
    {
      conditions: target.entry.conditions,
      when: when.filter((cel) => cel !== null),
      approved: gates.some(({ kind }) => kind === 'approval'),
    },
    report,
  );
}

/** Checks that a hop back because of a failed expectation records a reframe, and that other hops record none. */
function checkReframe(
  { pinned, visits, leaving }: AuditState,
  report: AuditReport,
  { from, to, reframe }: HopBody,
  shownId: string | null,
): void {
  const expected = getOwn(pinned.specs.peripherals, from)?.exits.find(({ implies }) => implies !== null)?.implies;
  const actual = expected && leaving?.fruit[expected.field];
  const isBack = (visits[to] ?? 0) > 0 && expected && typeof actual === 'string' && actual !== expected.value;
  const due = isBack ? { expected: expected.value, actual, shownBy: shownId } : undefined;
  report.compare('reframe', 'the reframe', due, reframe, NEEDS_HISTORY);
}

/** Returns undefined for an empty value, as the gate leaves empty parts out of an approval's view. */
const unlessEmpty = <T extends Json>(value: T & object): T | undefined =>
  Object.keys(value).length === 0 ? undefined : value;
