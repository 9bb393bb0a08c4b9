import type { Json, Mode, Principal } from '../spec/types.ts';

/** What an entry's body says; `event` tells which. The audit reads these, so each is complete without the code that wrote it. */
export type Body =
  | SessionOpenBody
  | StartBody
  | StepBody
  | IntentBody
  | OutcomeBody
  | InterruptedBody
  | DenialBody
  | StopBody
  | HopBody
  | ModeBody
  | ApprovalBody
  | ExpiredBody
  | ParBody
  | SessionClosedBody;

type Fields = { readonly [name: string]: Json };

export interface SessionOpenBody {
  readonly event: 'session-open';
  readonly agent: string;
  /** Absolute real path of the repository. */
  readonly root: string;
  /** sha256 of the blob that pins the spec set and the config. */
  readonly pin: string;
  readonly specHash: string;
  readonly unsafeNoSandbox: boolean;
  readonly version: string;
}
export interface StartBody {
  readonly event: 'start';
  readonly peripheral: string;
  readonly by: Principal;
  readonly context: Fields;
  /** Epoch milliseconds after which only stop and hops remain; null without a time limit. */
  readonly deadline: number | null;
  /** What the gate saw, as it rode in the hop graph's event; null for the start that a hop led to. */
  readonly facts: Fields | null;
}
/** What came of a tool call, as its backend reported it. A large result is `{ blob, bytes }`. */
export type OutcomeRecord =
  | { readonly status: 'ok'; readonly result: Json }
  | { readonly status: 'failed'; readonly code: string; readonly message: string; readonly result?: Json }
  | { readonly status: 'refused'; readonly code: string; readonly message: string };
export interface EffectRecord {
  readonly path: string;
  readonly op: string;
  readonly before?: string;
  readonly after?: string;
}
/** A step of an observing or coordinating tool: no intent is needed. */
export interface StepBody {
  readonly event: 'step';
  readonly tool: string;
  readonly args: Fields;
  readonly outcome: OutcomeRecord;
  readonly effects: readonly EffectRecord[] | 'unobserved';
}
/** An acting tool is about to run. Durable before it does. */
export interface IntentBody {
  readonly event: 'intent';
  readonly tool: string;
  readonly args: Fields;
}
export interface OutcomeBody {
  readonly event: 'outcome';
  readonly tool: string;
  readonly outcome: OutcomeRecord;
  readonly effects: readonly EffectRecord[] | 'unobserved';
}
/** An intent whose outcome is unknown: the writer died in between. It is never run again by itself. */
export interface InterruptedBody {
  readonly event: 'interrupted';
  readonly tool: string;
  readonly reason: string;
}
export interface DenialBody {
  readonly event: 'denial';
  /** What was asked for, as asked. */
  readonly request: Fields;
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly about: Fields;
}
export interface StopBody {
  readonly event: 'stop';
  readonly peripheral: string;
  readonly reason: string;
  readonly by: Principal;
  readonly fruit: Fields;
  /** The exit taken by a hop; null for a plain stop. */
  readonly exit: string | null;
}
export interface HopBody {
  readonly event: 'hop';
  readonly from: string;
  readonly exit: string;
  readonly to: string;
  readonly reason: string;
  readonly by: Principal;
  /** Id of the approval that this hop used up. */
  readonly approval: string | null;
  /** What the gate saw, as it rode in the hop graph's event. */
  readonly facts: Fields;
  /** Set when an expectation was not met and the hop goes back (A10): what was expected, what held, the entry that showed it. */
  readonly reframe?: { readonly expected: string; readonly actual: string; readonly shownBy: string | null };
}
export interface ModeBody {
  readonly event: 'mode';
  readonly from: Mode;
  readonly to: Mode;
  readonly how: 'transition' | 'reset' | 'timeout';
  readonly by: Principal;
  readonly summary: string | null;
  readonly reason: string | null;
  readonly exitCriteria: string | null;
  readonly approval: string | null;
  /** What the gate saw, as it rode in the mode gate's event. */
  readonly facts: Fields;
}
export interface ApprovalBody {
  readonly event: 'approval';
  readonly record: {
    readonly id: string;
    readonly nonce: string;
    readonly sessionId: string;
    readonly requestHash: string;
    readonly by: string;
    readonly via: string;
    readonly grantedAt: string;
    readonly expiresAt: string;
  };
  /** What was approved, in full: `record.requestHash` is the hash of it. */
  readonly request: { readonly action: Fields; readonly reason: string; readonly view: Fields };
}
/** The clock: the time limit of the visit has passed. */
export interface ExpiredBody {
  readonly event: 'expired';
  readonly peripheral: string;
  readonly deadline: number;
}
/** A post-action review; see `par.ts`. */
export interface ParBody {
  readonly event: 'par';
  readonly par: Fields;
}
export interface SessionClosedBody {
  readonly event: 'session-closed';
  readonly reason: string;
  readonly by: Principal;
  /** Patterns that were selected and whose outcome was never told; absent if there are none. */
  readonly openSelections?: readonly string[];
}

/** The body of an entry, if it is one of ours; null for foreign entries and erased bodies. */
export function bodyOf(body: Json): Body | null {
  return body !== null && typeof body === 'object' && !Array.isArray(body) && typeof body['event'] === 'string'
    ? (body as unknown as Body)
    : null;
}
