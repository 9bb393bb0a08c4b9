import type { GrantLimits } from '../../gate/approvals/grant.ts';
import type { SessionFacts, VisitState } from './session-state.ts';

/**
 * A copy of a session's facts whose fields may be set. Its lists and objects belong to the previous state, so they are
 * replaced and never changed: a step of a long session copies only what it changes.
 */
export type FactsDraft = {
  -readonly [Field in keyof SessionFacts]: Field extends 'visit' ? VisitDraft | null : SessionFacts[Field];
};
type VisitDraft = { -readonly [Field in keyof VisitState]: VisitState[Field] };

/** Ends each grant for which `why` returns a reason, unless the grant has ended before. */
export function endGrants(
  draft: FactsDraft,
  why: (limits: GrantLimits, id: string) => string | false | null | undefined,
): void {
  draft.grants = draft.grants.map((grant) => ({
    ...grant,
    ended: grant.ended ?? (why(grant.limits, grant.id) || null),
  }));
}
