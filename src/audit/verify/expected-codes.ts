import { type Fields, fieldsOf, textOf } from '../../base/json.ts';
import { isBlobReference } from '../../evidence/blob-values.ts';
import type { DenialBody } from '../../evidence/bodies.ts';
import { getOwn } from '../../spec/names.ts';
import { PRINCIPALS, type Principal, TESTS_PASSED_CONDITION } from '../../spec/types.ts';
import type { AuditRequest } from '../rules/audit-request.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { readsCelVariable } from '../rules/audited-cel.ts';
import { isReflectingPeripheral } from '../rules/audited-observations.ts';
import { gatesOnHop } from '../rules/entry-problems.ts';
import { findRuleProblems } from '../rules/find-rule-problems.ts';
import { RULE_PROBLEM_CODES } from '../rules/rule-problem.ts';
import { auditStateForRefusedCall, isObserveOnlySession } from './observe-only-session.ts';

/** Codes with which a tool itself may refuse a call that the spec allows. */
const OF_TOOLS: readonly string[] = ['out-of-scope', 'invalid-action', 'sandbox-unavailable'];

/**
 * The codes with which the spec refuses a recorded request; empty if the spec allows the request. Returns null if the
 * recorded code is one of them. Returns null also if something outside of the evidence decided the refusal: a tool, a
 * missing backend, the sandbox, the approver, the working tree, or the parent session.
 * @param at epoch milliseconds of the entry
 */
export function expectedRefusalCodes(state: AuditState, body: DenialBody, at: number): readonly string[] | null {
  const { code, request: recorded, enforced } = body;
  if (!RULE_PROBLEM_CODES.some((one) => one === code) || state.hasParent || isUnserved(body)) return null;
  const request = requestIn(recorded);
  if (request === null || restsOnTree(state, request, code) || restsOnReview(state, request, code)) return null;
  const judged =
    isObserveOnlySession(state) && enforced !== false && request.kind === 'step'
      ? auditStateForRefusedCall(state, request.tool, request.args)
      : state;
  // The decision was made before the entry was written, so a deadline may have passed in between.
  const found = [state.lastAt, at].flatMap((now) => findRuleProblems(judged, request, now)).map((each) => each.code);
  if (found.some((each) => each === code)) return null;
  const isOfTool = request.kind === 'step' && OF_TOOLS.includes(code) && found.length === 0;
  return isOfTool ? null : [...new Set(found)];
}

const isUnserved = ({ code, about }: DenialBody): boolean => code === 'unknown-tool' && about['unserved'] === true;

/** A recorded request; null if its kind is unknown or a part of it is stored as a blob. */
function requestIn(recorded: Fields): AuditRequest | null {
  if (Object.values(recorded).some(isBlobReference)) return null;
  const text = (field: string) => textOf(recorded[field]) ?? '';
  const by: Principal = PRINCIPALS.find((one) => one === recorded['by']) ?? 'agent';
  const fields = (field: string) => (recorded[field] === undefined ? {} : { [field]: fieldsOf(recorded[field]) });
  switch (recorded['kind']) {
    case 'start':
      return { kind: 'start', peripheral: text('peripheral'), by, ...fields('context') };
    case 'step':
      return { kind: 'step', tool: text('tool'), args: recorded['args'] ?? null };
    case 'hop': {
      const exit = textOf(recorded['exit']);
      const named = exit === null ? {} : { exit };
      return { kind: 'hop', to: text('to'), reason: text('reason'), by, approves: false, ...named, ...fields('fruit') };
    }
    case 'stop':
      return { kind: 'stop', ...fields('fruit') };
    case 'mode': {
      const summary = textOf(recorded['summary']);
      const reset = recorded['reset'] === true;
      return { kind: 'mode', to: text('to'), by, reset, approves: false, ...(summary === null ? {} : { summary }) };
    }
    case 'delegate':
      return {
        ...{ kind: 'delegate', to: text('to'), reason: text('reason'), by, approves: false },
        ...(recorded['agency'] === undefined
          ? {}
          : { agency: { acts: fieldsOf(recorded['agency'])['acts'] === true } }),
      };
    case 'close':
      return { kind: 'close' };
    default:
      return null;
  }
}

/** True for an invalid fruit of a reviewing peripheral: it was judged with a review that is not recorded yet. */
const restsOnReview = ({ visit }: AuditState, { kind }: AuditRequest, code: string): boolean =>
  (kind === 'hop' || kind === 'stop') &&
  code === 'invalid-fruit' &&
  visit?.spec !== undefined &&
  isReflectingPeripheral(visit.spec);

/** True if a change of the files outside of the session may have decided a refusal. */
function restsOnTree({ pinned, visit }: AuditState, request: AuditRequest, code: string): boolean {
  if (code !== 'condition-failed' || !('to' in request || request.kind === 'start')) return false;
  const id = 'to' in request ? request.to : request.peripheral;
  const conditions = getOwn(pinned.specs.peripherals, id)?.entry.conditions ?? [];
  const gates = 'to' in request ? gatesOnHop(pinned, visit?.peripheral ?? '', id) : [];
  const rules = [
    ...conditions.map((name) => getOwn(pinned.specs.conditions, name) ?? ''),
    ...gates.map((gate) => (gate.kind === 'when' ? gate.cel : '')),
  ];
  return (
    conditions.includes(TESTS_PASSED_CONDITION) ||
    gates.some(({ kind }) => kind === 'approval') ||
    rules.some((rule) => readsCelVariable(rule, 'tests'))
  );
}
