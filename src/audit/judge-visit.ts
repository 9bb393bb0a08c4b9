import type { HopBody, StartBody, StopBody } from '../evidence/bodies.ts';
import { APPROVAL_VIEW, IDENTITY_FIELDS } from '../spec/policy/closed-lists.ts';
import type { GateRule, Json } from '../spec/types.ts';
import { type Fields, fieldsOf, sameJson, show } from './json.ts';
import { judgeApprovalUse } from './judge-approval.ts';
import { judgeEntry } from './judge-entry.ts';
import type { Ledger } from './ledger.ts';
import type { Report } from './report.ts';
import { factsOf, judgeFacts, type Moment, ruleHolds } from './session-facts.ts';
import { fruitProblems } from './yield.ts';

/** Judges a visit's end: the fruit has the spec's shape, and what it says was observed is what the entries amount to. */
export function judgeStop(ledger: Ledger, body: StopBody, report: Report): void {
  const { visit } = ledger;
  if (!visit) {
    report.breach('lifecycle', 'a stop ends a visit', `${body.peripheral} was stopped outside of any`);
    return;
  }
  if (visit.peripheral !== body.peripheral)
    report.breach('lifecycle', `the visit to ${visit.peripheral}`, `${body.peripheral} was stopped`);
  if (!visit.spec) return;
  const observe = report.blind
    ? null
    : (name: Parameters<typeof visit.yields.of>[0]) => visit.yields.of(name, ledger.runs);
  for (const { field, constraint, message } of fruitProblems(visit.spec, body.fruit, observe))
    report.breach('fruit', constraint, message, { argument: field });
}

/** Judges a hop against the peripherals' own words: the exit opens the target, it holds, the target admits, the gates are open. */
export function judgeHop(ledger: Ledger, at: number, body: HopBody, report: Report): void {
  const { leaving } = ledger;
  if (!leaving) {
    report.breach('lifecycle', 'a hop follows the stop of its visit', `a hop from ${body.from} without one`);
    ledger.approval = null;
    return;
  }
  const { specs } = ledger.pinned;
  const { visit, body: stop, backpack, successes } = leaving;
  const moment: Moment = { ledger, by: body.by, visit, fruit: stop.fruit, backpack, successes };
  for (const [what, left, hopped] of [
    ['from', visit.peripheral, body.from],
    ['exit', stop.exit, body.exit],
    ['reason', stop.reason, body.reason],
    ['by', stop.by, body.by],
  ] as const) {
    if (left !== hopped) report.breach('lifecycle', `${what} of the stop: ${left}`, `${what} of the hop: ${hopped}`);
  }
  const exit = visit.spec?.exits.find(({ name }) => name === body.exit);
  const opens = exit?.opens.find(({ to }) => to === body.to);
  const target = Object.hasOwn(specs.peripherals, body.to) ? specs.peripherals[body.to] : undefined;
  if (!exit || !opens || !target) {
    const lawful = (visit.spec?.exits ?? []).map(
      ({ name, opens: all }) => `${name} → ${all.map(({ to }) => to).join(', ')}`,
    );
    report.breach(
      'edge',
      `exits of ${body.from}: ${lawful.join('; ') || 'none'}`,
      `a hop to ${body.to} by ${body.exit}`,
    );
  }
  if (exit?.implies && stop.fruit[exit.implies.field] !== exit.implies.value) {
    const { field, value } = exit.implies;
    report.breach('exit', `${body.exit}: ${field} is ${value}`, `${field} is ${show(stop.fruit[field])}`);
  }
  if (exit && !exit.implies && body.reason.trim() === '')
    report.breach('exit', `${body.exit} is stated, with a reason`, 'there is no reason');
  if (body.exit === 'user-request' && body.by !== 'operator')
    report.breach('exit', 'user-request: by the operator', `it was taken by the ${body.by}`);
  if (opens?.when && !ruleHolds(moment, opens.when))
    report.counted('exit', `${body.exit} → ${body.to} when ${opens.when}`, 'the rule did not hold');
  if (target) judgeEntry(moment, target, report);
  const gates = gatesOn(ledger, body.to);
  for (const gate of gates) {
    const shut = gateProblem(moment, gate);
    if (shut) report.counted('gate', `gates: ${body.to}: ${JSON.stringify(gate)}`, shut);
  }
  const needed = gates.some(({ kind }) => kind === 'approval');
  const approval = judgeApprovalUse(
    ledger,
    at,
    body.approval,
    needed,
    {
      action: { kind: 'hop', from: body.from, exit: body.exit, to: body.to },
      reason: body.reason,
      view: { fruit: { ...stop.fruit }, changes: { ...ledger.changes } },
    },
    report,
  );
  const when = [
    ...(opens?.when ? [opens.when] : []),
    ...gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : [])),
  ];
  if (exit && opens && target)
    judgeFacts(body.facts, factsOf(moment, { conditions: target.entry.conditions, when, approved: needed }), report);
  ledger.hop = { id: '', body, approval, backpack: { ...backpack, ...stated(stop.fruit) } };
}

/** A gate on a destination binds every way to it, in whichever peripheral's file it stands. */
function gatesOn({ pinned }: Ledger, to: string): readonly GateRule[] {
  return Object.values(pinned.specs.peripherals).flatMap(({ gates }) => (Object.hasOwn(gates, to) ? gates[to]! : []));
}

function gateProblem(moment: Moment, gate: GateRule): string | null {
  switch (gate.kind) {
    case 'approval':
      return null;
    case 'when':
      return ruleHolds(moment, gate.cel) ? null : 'the rule did not hold';
    case 'pattern': {
      const standing = moment.ledger.patterns[gate.pattern];
      const holds = gate.is === 'selected' ? standing !== undefined : standing === 'held';
      return holds ? null : `the pattern stands at ${standing ?? 'nothing'}`;
    }
    default:
      return gate satisfies never;
  }
}

/** Judges a start: under its hop, or from outside. */
export function judgeStart(ledger: Ledger, at: number, body: StartBody, report: Report): void {
  const { specs } = ledger.pinned;
  const target = Object.hasOwn(specs.peripherals, body.peripheral) ? specs.peripherals[body.peripheral] : undefined;
  if (ledger.visit)
    report.breach('lifecycle', 'one visit at a time', `${body.peripheral} was started in ${ledger.visit.peripheral}`);
  if (!target) {
    report.breach('edge', 'a peripheral of the spec', `there is no peripheral ${body.peripheral}`);
    return;
  }
  const { minutes } = target.limits;
  const latest = minutes === null ? null : at + minutes * 60_000;
  if ((latest === null) !== (body.deadline === null) || (latest !== null && (body.deadline ?? 0) > latest))
    report.breach('limit', `limits: ${minutes ?? 'no'} minutes`, `the deadline is ${show(body.deadline)}`);
  const { hop } = ledger;
  if (hop) {
    if (hop.body.to !== body.peripheral || hop.body.by !== body.by)
      report.breach('lifecycle', `the hop leads to ${hop.body.to}`, `${body.peripheral} was started by the ${body.by}`);
    judgeContext(ledger, body, hop.backpack, true, report);
    const seen = hop.approval?.request.view[APPROVAL_VIEW.context];
    if (hop.approval && !sameJson(seen, body.context))
      report.counted('approval', `context approved: ${show(seen)}`, `context taken: ${show(body.context as Json)}`);
    return;
  }
  const moment: Moment = {
    ledger,
    by: body.by,
    visit: null,
    fruit: {},
    backpack: ledger.backpack,
    successes: ledger.successes,
  };
  judgeEntry(moment, target, report);
  judgeContext(ledger, body, ledger.backpack, false, report);
  judgeFacts(fieldsOf(body.facts as Json), factsOf(moment, { conditions: target.entry.conditions }), report);
}

/** What a visit is begun with: every field that the spec demands, and after a hop exactly what its sources hold. */
function judgeContext(
  ledger: Ledger,
  { peripheral, context }: StartBody,
  backpack: Fields,
  exact: boolean,
  report: Report,
): void {
  const rules = ledger.pinned.specs.peripherals[peripheral]?.context ?? {};
  for (const [field, { source, optional }] of Object.entries(rules)) {
    const has = context[field] ?? null;
    const due =
      source.kind === 'session-log'
        ? { session: ledger.sessionId }
        : source.kind === 'fruit'
          ? (ledger.fruits[source.peripheral]?.[field] ?? null)
          : field === 'session-id'
            ? ledger.sessionId
            : (backpack[field] ?? null);
    const constraint = `context: ${field}: ${source.kind === 'fruit' ? `from-${source.peripheral}` : source.kind}`;
    if (has === null && !optional)
      report.counted('context', constraint, `${peripheral} was entered without ${field}`, { argument: field });
    else if ((exact || IDENTITY_FIELDS.includes(field)) && !sameJson(has, due))
      report.counted('context', constraint, `${field} is ${show(has)}, its source holds ${show(due)}`, {
        argument: field,
      });
  }
  for (const field of Object.keys(context)) {
    if (!Object.hasOwn(rules, field) && (exact || IDENTITY_FIELDS.includes(field)))
      report.counted('context', `context: ${Object.keys(rules).join(', ')}`, `${field} came along`, {
        argument: field,
      });
  }
}

/** The fields of a fruit that say something. */
export const stated = (fruit: Fields): Fields =>
  Object.fromEntries(Object.entries(fruit).filter(([, value]) => value !== null));
