import type { AuditRule } from '../rules/rule-problem.ts';

export interface Violation {
  readonly rule: AuditRule;
  readonly entryId: string;
  readonly seq: number;
  readonly tool?: string;
  readonly argument?: string;
  /** The spec's requirement, in its own terms: `tools: read, bash-test`. */
  readonly constraint: string;
  /** The part of the entry that breaks the requirement, in words. */
  readonly message: string;
}

/**
 * A gap in the evidence: the session is not clean, but no breach is proved.
 *
 * - `unobserved`: the effects of a step were not observed.
 * - `unconfirmed`: a step reports a result that no observed effect confirms.
 * - `no-outcome`: an intent whose outcome is unknown.
 * - `erased`: a body was erased; entries that depend on it cannot be judged.
 * - `open-visit`: the evidence ends in the middle of a visit.
 * - `unknown`: an entry, or a command, that this audit has no rule for.
 */
export interface EvidenceGap {
  readonly kind: 'unobserved' | 'unconfirmed' | 'no-outcome' | 'erased' | 'open-visit' | 'unknown';
  readonly entryId: string;
  readonly seq: number;
  readonly tool?: string;
  readonly message: string;
}

interface Counts {
  readonly entries: number;
  readonly steps: number;
  readonly denials: number;
  readonly visits: number;
  readonly hops: number;
  readonly approvals: number;
  /** Calls that enforcement would have refused, in a session that only observed. */
  readonly wouldRefuse: number;
  /** Total counts, even if the lists were cut at {@link MAX_LISTED_FINDINGS}. */
  readonly violations: number;
  readonly gaps: number;
}

/** The result of an audit. A session is clean if it is `ok`, has no gaps, and enforced its spec. */
export interface AuditResult {
  /** True if nothing in the evidence contradicts the spec. */
  readonly ok: boolean;
  /** Set for an observe-only session, in which refused calls ran. Such a session is never clean. */
  readonly observed?: true;
  readonly violations: readonly Violation[];
  readonly gaps: readonly EvidenceGap[];
  readonly counts: Counts;
}

/** Maximum length of the lists, so that a hostile log cannot fill the memory. */
export const MAX_LISTED_FINDINGS = 1000;
