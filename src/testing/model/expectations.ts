import { firstProblem } from '../../audit/rules/problems.ts';
import type { AuditRequest } from '../../audit/rules/request.ts';
import type { AuditState, Pinned } from '../../audit/rules/state.ts';
import type { Denial } from '../../gate/denial.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ToolBackend } from '../../ports/tool-backend.ts';
import type { Session } from '../../session/session.ts';
import type { Move } from '../plan/moves.ts';
import { dryRun } from '../plan/request.ts';
import type { Difference } from './compare-state.ts';

/** The refusal that a session must answer a move with; null if it must allow the move. */
export type ExpectedRefusal = { readonly code: string; readonly constraint: string } | null;

interface Parts {
  readonly pinned: Pinned;
  readonly clock: Clock;
  /** The backends under test; canned tools serve the other tools. */
  readonly backends?: readonly ToolBackend[];
}

const REFUSED_BY_TOOLS: readonly string[] = ['out-of-scope', 'invalid-action', 'sandbox-unavailable'];

/** The answers that the audit's rules require of a session, for a move in a given state. */
export class Expectations {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The refusal that the spec requires for a move. An expired approval, and a refusal by a tool, come last. */
  refusal({ asked, report, approvalMinutes }: Move, state: AuditState): ExpectedRefusal {
    const want = firstProblem(state, asked, this.#now());
    if (want) return want;
    if (approvalMinutes === 0 && this.#wantsApproval(asked, state))
      return { code: 'approval-invalid', constraint: 'an approval that has not expired' };
    const outcome = asked.kind === 'step' && !this.#isTheirs(asked.tool) && report?.outcome;
    return outcome && outcome.status === 'refused' ? { code: outcome.code, constraint: 'the tool itself' } : null;
  }

  /** True if a backend under test may refuse an allowed step with a denial like this. */
  mayRefuse({ asked }: Move, { code }: Denial): boolean {
    return asked.kind === 'step' && this.#isTheirs(asked.tool) && REFUSED_BY_TOOLS.includes(code);
  }

  /** Null if a dry run gives the same answer as the move itself, including events since the last entry. */
  async dryRunProblem(session: Session, { asked, wait }: Move, state: AuditState): Promise<Difference | null> {
    if (asked.kind === 'step') {
      const due = firstProblem(state, { ...asked, approves: false }, this.#now())?.code ?? 'it would be allowed';
      const said = session.why(asked);
      if ((said?.code ?? 'it would be allowed') === due) return null;
      return { due: `asked beforehand: ${due}`, said: said ? `${said.code}: ${said.message}` : 'it would be allowed' };
    }
    if (!('approves' in asked) || wait) return null;
    const wants = this.#wantsApproval(asked, state);
    const said = await dryRun(session, asked);
    if ((said !== null) === wants) return null;
    return {
      due: `asked beforehand: ${wants ? 'it wants an approval' : 'only an approval is missing'}`,
      said: said ? 'it wants one' : 'it wants none',
    };
  }

  #wantsApproval(asked: AuditRequest, state: AuditState): boolean {
    if (!('approves' in asked)) return false;
    return firstProblem(state, { ...asked, approves: false }, this.#now())?.code === 'approval-required';
  }

  /** True if a backend under test runs a tool; its answers and refusals are then not predicted. */
  #isTheirs(tool: string): boolean {
    return this.#parts.backends?.some(({ tools }) => tools.includes(tool)) ?? false;
  }

  #now(): number {
    return this.#parts.clock.now();
  }
}
