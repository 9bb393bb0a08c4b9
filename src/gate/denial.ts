import type { Mode } from '../spec/types.ts';

/** Every reason for a refusal. Closed: a new one fails the build until `describe-denial.ts` has words for it. */
export const DENIAL_CODES = [
  'unknown-tool',
  'tool-not-allowed',
  'invalid-action',
  'out-of-scope',
  'mode-forbids',
  'mode-not-allowed',
  'summary-required',
  'no-peripheral',
  'already-active',
  'hop-not-allowed',
  'exit-not-met',
  'entry-not-met',
  'condition-failed',
  'approval-required',
  'approval-invalid',
  'missing-context',
  'invalid-fruit',
  'limit-reached',
  'sandbox-unavailable',
  'agent-not-allowed',
  'session-closed',
  'session-busy',
  'lease-expired',
] as const;
export type DenialCode = (typeof DENIAL_CODES)[number];

/** One leg of a path through the hop graph. */
export interface WayLeg {
  readonly from: string | null;
  readonly exit: string | null;
  readonly to: string;
  /** The requirements of this leg, in words (`approval by operator`, `tests-passed`, `result is pass`). */
  readonly needs: readonly string[];
  /** Changes of mode before this leg, in their order; absent if the mode already admits it. */
  readonly modes?: readonly ModeStep[];
  /** Changes of mode after this leg, before the requested tool can be called; absent if none is needed. */
  readonly modesAfter?: readonly ModeStep[];
}

/** A change of mode, and its requirements in words. */
export interface ModeStep {
  readonly to: Mode;
  readonly needs: readonly string[];
}

/** The actions available from here: part of every denial, and the result of `session.available()`. */
export interface Available {
  readonly peripheral: string | null;
  readonly mode: Mode | null;
  /** Tools that peripheral and mode allow now; arguments are judged per call. */
  readonly tools: readonly string[];
  /**
   * The possible hops, with their needs that are not met. While the session is in no peripheral: the possible starts.
   */
  readonly hops: readonly WayLeg[];
  readonly modes: readonly ModeStep[];
}

/**
 * A refusal as a value. It contains everything that the agent needs to recover without help: the problem (`message`),
 * the next step (`remedy`), the available actions and, if a tool or peripheral is elsewhere, the shortest path to it.
 */
export interface Denial {
  readonly code: DenialCode;
  readonly message: string;
  readonly remedy: string;
  /** The data behind the code: tool, argument, value, mode, from, to, exit, field, candidates, problems, … */
  readonly about: { readonly [key: string]: string | number | boolean | null | readonly string[] };
  readonly available: Available;
  /** The shortest path to the requested tool or peripheral; null if there is none or none is needed. */
  readonly way: readonly WayLeg[] | null;
}
