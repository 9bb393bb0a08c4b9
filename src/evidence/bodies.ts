import { type Fields, isObject } from '../base/json.ts';
import type { Json, Mode, Principal } from '../spec/types.ts';

/** The body of an entry, by `event`. It has all that the audit needs, because the audit reads only bodies. */
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
  | GrantBody
  | GrantEndBody
  | NoteBody
  | ApprovalBody
  | ExpiredBody
  | ParBody
  | MessageBody
  | ReceiptBody
  | DelegationBody
  | SessionClosedBody;

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
  /** The session whose sub-agent works in this one. */
  readonly parent?: string;
  /**
   * The id of the parent's entry that started the sub-agent; absent if the sub-agent works in the parent's peripheral.
   */
  readonly delegation?: string;
}
export interface StartBody {
  readonly event: 'start';
  readonly peripheral: string;
  readonly by: Principal;
  readonly context: Fields;
  /** Epoch milliseconds after which only stop and hops remain; null without a time limit. */
  readonly deadline: number | null;
  /** The facts that the gate decided by, as the hop graph's machine receives them; null for the start after a hop. */
  readonly facts: Fields | null;
  /** The working tree that the gate decided by; absent if the start does not depend on it. */
  readonly tree?: Fields;
}
/** Outcome of a tool call as its backend reported it. A large result is `{ blob, bytes }`. */
export type OutcomeRecord =
  | { readonly status: 'ok'; readonly result: Json }
  | { readonly status: 'failed'; readonly code: string; readonly message: string; readonly result?: Json }
  | { readonly status: 'refused'; readonly code: string; readonly message: string };
/** The fields that a backend declared in tools.yaml and reported with an outcome; absent if there are none. */
interface Reported {
  readonly observed?: Fields;
  /** The fields of session state; null removes one. */
  readonly state?: Fields;
}
export interface EffectRecord {
  /** Root-relative, with `/`, normalised; for `ref` the full ref name, for `resource` the name of the resource. */
  readonly path: string;
  readonly op: string;
  /** sha256 (hex) of the content before and after, if it existed; for `ref` the object ids. */
  readonly before?: string;
  readonly after?: string;
  /** A warning before the change ships: the file will run outside the sandbox, or the tests are weaker. */
  readonly finding?: string;
}
/** The refusal that enforcement would have given a call. The session only observes, so the call ran. */
export type WouldBeRefusal = Pick<DenialBody, 'code' | 'message' | 'remedy' | 'about'>;
/** A step of an observing or coordinating tool: no intent is needed. */
export interface StepBody extends Reported {
  readonly event: 'step';
  readonly tool: string;
  readonly args: Fields;
  readonly outcome: OutcomeRecord;
  readonly effects: readonly EffectRecord[] | 'unobserved';
  readonly wouldRefuse?: WouldBeRefusal;
}
/** The intent to run an acting tool. It is durable before the tool starts. */
export interface IntentBody {
  readonly event: 'intent';
  readonly tool: string;
  readonly args: Fields;
  /** Id of the approval that this step used up, if it needed one. */
  readonly approval?: string;
  readonly wouldRefuse?: WouldBeRefusal;
}
export interface OutcomeBody extends Reported {
  readonly event: 'outcome';
  readonly tool: string;
  readonly outcome: OutcomeRecord;
  readonly effects: readonly EffectRecord[] | 'unobserved';
}
/** A call whose outcome is unknown, because the writer ended after its intent. The call is never repeated. */
interface InterruptedBody {
  readonly event: 'interrupted';
  readonly tool: string;
  readonly reason: string;
}
export interface DenialBody {
  readonly event: 'denial';
  /** The refused request, verbatim. */
  readonly request: Fields;
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly about: Fields;
  /** `false` if the session only observes: the client program ran its own tool despite the refusal. */
  readonly enforced?: false;
}
export interface StopBody {
  readonly event: 'stop';
  readonly peripheral: string;
  readonly reason: string;
  readonly by: Principal;
  readonly fruit: Fields;
  /** The exit taken by a hop; null for a plain stop. */
  readonly exit: string | null;
  /** The commands in the background that ended with the visit; absent if none was running. */
  readonly ended?: readonly string[];
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
  /** The facts that the gate decided by, as the hop graph's machine receives them. */
  readonly facts: Fields;
  /**
   * The tested tree and the part of it that ships, as the gate saw them; absent if the hop does not depend on the
   * working tree.
   */
  readonly tree?: Fields;
  /** Present if the agent hopped back because an expectation failed; the entry `shownBy` showed the failure. */
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
  /** The facts that the gate decided by, as the mode gate's machine receives them. */
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
    /** The grant that this approval was given under; absent if a person approved this one request. */
    readonly grant?: string;
  };
  /** The approved request in full; `record.requestHash` is its hash. */
  readonly request: {
    /** The version of the form of the request that is hashed; absent in version 1. */
    readonly version?: number;
    readonly action: Fields;
    readonly reason: string;
    readonly view: Fields;
  };
}
/** The operator's yes to all requests of one action until a limit is reached. The next entry is its first approval. */
export interface GrantBody {
  readonly event: 'grant';
  readonly id: string;
  readonly by: string;
  readonly via: string;
  readonly grantedAt: string;
  readonly action: Fields;
  /** The parts of the first request that every later request must repeat. */
  readonly bound: Fields;
  /** The limits of the grant; `until` in epoch milliseconds. */
  readonly limits: {
    readonly until: number;
    readonly uses?: number;
    readonly files?: readonly string[];
    readonly testsPass?: true;
  };
}
/** A person revoked a grant. */
interface GrantEndBody {
  readonly event: 'grant-end';
  readonly grant: string;
  readonly by: string;
}
/** Words of the operator for the agent, which reads them with its next call or turn. */
interface NoteBody {
  readonly event: 'note';
  readonly by: Principal;
  readonly text: string;
}
/** The visit's time limit has passed; raised by the clock. */
interface ExpiredBody {
  readonly event: 'expired';
  readonly peripheral: string;
  readonly deadline: number;
}
/** A sub-agent was started in another peripheral; it works in a session of its own. */
export interface DelegationBody {
  readonly event: 'delegation';
  readonly from: string;
  readonly to: string;
  /** The limits of the sub-agent: the limits of both peripherals (`parent`), or the limits of `to` alone (`own`). */
  readonly within: 'parent' | 'own';
  /** The id of the sub-agent's session, which may never begin; null for a run of the agency. */
  readonly session: string | null;
  /** Set for a run of the agency; `to` is then an agency peripheral. */
  readonly agency?: { readonly run: string; readonly acts: boolean };
  readonly context: Fields;
  readonly reason: string;
  readonly by: Principal;
  /** Id of the approval that this start used up. */
  readonly approval: string | null;
}
/** A post-action review; see `par.ts`. */
interface ParBody {
  readonly event: 'par';
  readonly par: Fields;
}
/** A message arrived in the session's inbox, so it counts as delivered. */
export interface MessageBody {
  readonly event: 'message';
  readonly id: string;
  /** The position in the recipient's inbox, from 1. It alone orders the inbox. */
  readonly seq: number;
  readonly kind: string;
  readonly act: string;
  /** The address of the sender. */
  readonly from: string;
  /** The sender's agent id or name, for people. */
  readonly author: string;
  readonly text: string;
  /** The id of the message that this one answers or refers to. */
  readonly ref: string | null;
  /** ISO 8601, UTC. */
  readonly sentAt: string;
}
/** The new state of a message. The session sent the message, or, if `nth` is null, received it. */
interface ReceiptBody {
  readonly event: 'receipt';
  readonly message: string;
  readonly state: string;
  /** The number of the receipt in the store; null for a received message. */
  readonly nth: number | null;
}
interface SessionClosedBody {
  readonly event: 'session-closed';
  readonly reason: string;
  readonly by: Principal;
  /** Selected patterns without a recorded outcome; absent if there are none. */
  readonly openSelections?: readonly string[];
}

/**
 * Returns the body of an entry that hopgate wrote; null if it was erased or has no `event`. It does not check the
 * fields: an imported entry may have an event that {@link Body} does not list.
 * @example
 * const bodies = (await session.evidence()).map((entry) => toBody(entry.body));
 * console.log(bodies.filter((body) => body?.event === 'denial').length);
 */
export const toBody = (json: Json): Body | null =>
  isObject(json) && typeof json['event'] === 'string' ? (json as unknown as Body) : null;
