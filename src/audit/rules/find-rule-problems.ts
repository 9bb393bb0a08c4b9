import type { AuditRequest } from './audit-request.ts';
import type { AuditState } from './audit-state.ts';
import { delegateProblems } from './delegate-problems.ts';
import { modeProblems } from './mode-problems.ts';
import { makeRuleProblem, type RuleProblem } from './rule-problem.ts';
import { stepProblems } from './step-problems.ts';
import { hopProblems, startProblems, stopProblems } from './visit-problems.ts';

export const SESSION_CLOSED_PROBLEM = makeRuleProblem(
  'session-closed',
  'lifecycle',
  'no entry may follow the end of the session',
  'this entry follows the end of the session',
);

/**
 * The rules of the pinned spec that a request breaks in a state: the second judgement. It uses only the spec and the
 * evidence, and no function of the gate, so that one mistake is not made twice. The problems are in the order of the
 * spec's rules: the gate must refuse with the code of the first one. Pure.
 * @param now epoch milliseconds of the request; by default, the time of the last entry
 * @returns an empty list if the spec allows the request
 * @example findRuleProblems(state, { kind: 'stop' }) // [{ code: 'no-peripheral', … }] outside of a peripheral
 */
export function findRuleProblems(state: AuditState, request: AuditRequest, now = state.lastAt): readonly RuleProblem[] {
  const found = problemsOf(state, request, now);
  return state.closed ? [SESSION_CLOSED_PROBLEM, ...found] : found;
}

/** The problem that the gate must refuse a request for; null if it must let the request through. */
export const findFirstRuleProblem = (state: AuditState, request: AuditRequest, now?: number): RuleProblem | null =>
  findRuleProblems(state, request, now)[0] ?? null;

function problemsOf(state: AuditState, request: AuditRequest, now: number): readonly RuleProblem[] {
  if (request.kind === 'start') return startProblems(state, request);
  if (request.kind === 'step') return stepProblems(state, request, now);
  if (request.kind === 'hop') return hopProblems(state, request);
  if (request.kind === 'stop') return stopProblems(state, request);
  if (request.kind === 'mode') return modeProblems(state, request);
  if (request.kind === 'delegate') return delegateProblems(state, request);
  request.kind satisfies 'close';
  if (!state.visit) return [];
  const message = `the session was closed during the visit to ${state.visit.peripheral}`;
  return [makeRuleProblem('already-active', 'conclusion-last', 'a visit ends with a stop', message)];
}
