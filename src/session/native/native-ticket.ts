import type { Entry } from '../../evidence/entry.ts';
import type { Finding } from '../../evidence/findings/findings.ts';
import type { Denial } from '../../gate/denial.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import type { Fields, Json } from '../../spec/types.ts';
import type { RefusedCall } from '../call-results.ts';

/** A call that another program wants to run. */
export interface NativeCall {
  readonly tool: string;
  readonly args?: unknown;
  /** The refusal by an enclosing session, such as the parent's session of a sub-agent; absent if it allows the call. */
  readonly above?: Denial;
}

/** The record of an admitted call, to be passed to `conclude`. Plain JSON: another process may conclude the call. */
export interface NativeTicket {
  readonly visit: string;
  /** Id of the intent's entry; null for a tool that only observes or talks. */
  readonly intent: string | null;
  readonly tool: string;
  readonly args: Fields;
  readonly before: Json;
}

export type AdmitCallResult =
  | { readonly ok: true; readonly ticket: NativeTicket; readonly evidence: readonly Entry[] }
  | RefusedCall;

/** The outcome of a call that another program ran, as that program reports it. */
export type NativeCallOutcome = Exclude<ToolOutcome, { readonly status: 'refused' }>;

export type ConcludeCallResult =
  | {
      readonly ok: true;
      /** False if the outcome came too late, because the evidence already says that it is unknown. */
      readonly recorded: boolean;
      readonly evidence: readonly Entry[];
      /** Facts about the changed files that a person must know before they ship. */
      readonly findings: readonly Finding[];
    }
  | RefusedCall;
