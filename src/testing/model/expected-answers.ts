import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { findFirstRuleProblem } from '../../audit/rules/find-rule-problems.ts';
import { toBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { Denial } from '../../gate/denial.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ToolBackend } from '../../ports/tool-backend.ts';
import type { Session } from '../../session/session.ts';
import { findAvailableProblem } from '../plan/available-problem.ts';
import type { Move } from '../plan/move.ts';
import type { StateDifference } from './compare-state.ts';
import { dryRunRequest } from './send-request.ts';

/** The refusal with which a session must answer a move; null if it must allow the move. */
export type ExpectedRefusal = { readonly code: string; readonly constraint: string } | null;

interface ExpectationsOptions {
  readonly pinned: AuditedPin;
  readonly clock: Clock;
  /** The backends under test; stub tools serve the other tools. */
  readonly backends?: readonly ToolBackend[];
}

const REFUSED_BY_TOOLS: readonly string[] = ['out-of-scope', 'invalid-action', 'sandbox-unavailable'];

/** The answers to moves that the audit's rules demand of a session. */
export class ExpectedAnswers {
  readonly #parts: ExpectationsOptions;

  constructor(parts: ExpectationsOptions) {
    this.#parts = parts;
  }

  /** The refusal that the spec demands for a move. An expired approval and a tool's own refusal come last. */
  refusal({ asked, report, approvalMinutes }: Move, state: AuditState): ExpectedRefusal {
    const problem = findFirstRuleProblem(state, asked, this.#now());
    if (problem) return problem;
    if (approvalMinutes === 0 && this.#needsApproval(asked, state))
      return { code: 'approval-invalid', constraint: 'an approval that has not expired' };
    const outcome = asked.kind === 'step' && !this.#isServedByBackend(asked.tool) && report?.outcome;
    return outcome && outcome.status === 'refused' ? { code: outcome.code, constraint: 'the tool itself' } : null;
  }

  /** True if a backend under test may refuse an allowed step with a denial like this. */
  mayRefuse({ asked }: Move, { code }: Denial): boolean {
    return asked.kind === 'step' && this.#isServedByBackend(asked.tool) && REFUSED_BY_TOOLS.includes(code);
  }

  /**
   * The difference between a dry run of a move and the demanded answer; null if they agree.
   * @param actual the denial of a dry run of a step; null if it would be allowed
   */
  async dryRunProblem(
    session: Session,
    { asked }: Move,
    actual: Denial | null,
    state: AuditState,
  ): Promise<StateDifference | null> {
    if (asked.kind === 'step') {
      const expected =
        findFirstRuleProblem(state, { ...asked, approves: false }, this.#now())?.code ?? 'it would be allowed';
      if ((actual?.code ?? 'it would be allowed') === expected) return null;
      return {
        expected: `dry run: ${expected}`,
        actual: actual ? `${actual.code}: ${actual.message}` : 'it would be allowed',
      };
    }
    if (!('approves' in asked)) return null;
    const needsApproval = this.#needsApproval(asked, state);
    const wanted = await dryRunRequest(session, asked);
    if ((wanted !== null) === needsApproval) return null;
    return {
      expected: `dry run: the request needs ${needsApproval ? 'an' : 'no'} approval`,
      actual: wanted ? 'it needs one' : 'it needs none',
    };
  }

  /** The difference between a session's answer to a move and the expected refusal; null if there is none. */
  answerProblem(
    move: Move,
    refusal: ExpectedRefusal,
    denial: Denial | null,
    state: AuditState,
    last: Entry | null,
  ): StateDifference | null {
    if (!refusal) {
      if (!denial || this.mayRefuse(move, denial)) return null;
      return { expected: 'it is allowed', actual: `it was refused: ${denial.code}: ${denial.message}` };
    }
    const expected = `${refusal.code} (${refusal.constraint})`;
    if (!denial) return { expected: `it is refused: ${expected}`, actual: 'it was allowed' };
    if (denial.code !== refusal.code) return { expected, actual: `${denial.code}: ${denial.message}` };
    const body = last && toBody(last.body);
    if (refusal.code !== 'session-closed' && (body?.event !== 'denial' || body.code !== refusal.code))
      return { expected: 'the refusal is recorded', actual: `the last entry records ${body?.event ?? 'nothing'}` };
    const offer = findAvailableProblem(this.#parts.pinned, state, move.asked, denial);
    return offer === null ? null : { expected: 'the refusal names the available actions', actual: offer };
  }

  #needsApproval(request: AuditRequest, state: AuditState): boolean {
    if (!('approves' in request)) return false;
    return findFirstRuleProblem(state, { ...request, approves: false }, this.#now())?.code === 'approval-required';
  }

  /** True if a backend under test runs a tool; its answers and refusals are then not predicted. */
  #isServedByBackend(tool: string): boolean {
    return this.#parts.backends?.some(({ tools }) => tools.includes(tool)) ?? false;
  }

  #now(): number {
    return this.#parts.clock.now();
  }
}
