import type { Rule } from '../rules/problem.ts';

/** One broken rule at one entry. */
export interface Violation {
  readonly rule: Rule;
  readonly entryId: string;
  readonly seq: number;
  readonly tool?: string;
  readonly argument?: string;
  /** What the spec demands here, in its own terms: `tools: read, bash-test`. */
  readonly constraint: string;
  /** What the entry says instead. */
  readonly message: string;
}

/**
 * Something that the evidence cannot answer for: never clean, and no proof of a breach.
 *
 * - `unobserved`: nobody watched what a step did.
 * - `unconfirmed`: a step reports a result that no observed effect bears out.
 * - `no-outcome`: an intent whose outcome is unknown.
 * - `erased`: a body was erased; what rests on it cannot be judged.
 * - `open-visit`: the evidence ends in the middle of a visit.
 * - `unknown`: an entry, or a command, that this audit has no rule for.
 */
export interface Gap {
  readonly kind: 'unobserved' | 'unconfirmed' | 'no-outcome' | 'erased' | 'open-visit' | 'unknown';
  readonly entryId: string;
  readonly seq: number;
  readonly tool?: string;
  readonly message: string;
}

export interface Counts {
  readonly entries: number;
  readonly steps: number;
  readonly denials: number;
  readonly visits: number;
  readonly hops: number;
  readonly approvals: number;
  /** In all, also where the lists were cut at {@link MAX_LISTED}. */
  readonly violations: number;
  readonly gaps: number;
}

/** `ok`: nothing contradicts the spec. Clean is more: `ok` and no gaps. */
export interface AuditVerdict {
  readonly ok: boolean;
  readonly violations: readonly Violation[];
  readonly gaps: readonly Gap[];
  readonly counts: Counts;
}

/** A list that tells no more by being longer is cut here, so that a hostile log cannot fill the memory. */
export const MAX_LISTED = 1000;
