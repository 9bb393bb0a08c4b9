import type { Fields } from '../base/json.ts';
import type { Entry } from '../evidence/entry.ts';
import type { Denial } from '../gate/denial.ts';
import type { Json, Mode } from '../spec/types.ts';

/** The result of a refused call: the problem, the next step, and the entries that record the refusal. */
export interface RefusedCall {
  readonly ok: false;
  readonly denial: Denial;
  readonly evidence: readonly Entry[];
}
/** An allowed call, with the entries that record it. */
interface Done {
  readonly ok: true;
  readonly evidence: readonly Entry[];
}

/** The entered peripheral and the context that the visit started with; or the refusal. */
export type StartResult = (Done & { readonly peripheral: string; readonly context: Fields }) | RefusedCall;
/** The result of a tool call, also if the tool failed; or the refusal, if the tool did not run. */
export type StepResult =
  | (Done & {
      readonly result: Json;
      /** The refusal under enforcement, if the session only observes. */
      readonly wouldRefuse?: Denial;
    } & (
        | { readonly outcome: 'ok'; readonly error?: undefined }
        // The tool ran but could not do the task; `error` gives the reason.
        | { readonly outcome: 'failed'; readonly error: { readonly code: string; readonly message: string } }
      ))
  | RefusedCall;
/** The fruit of the ended visit, and the context that the session carries on; or the refusal. */
export type StopResult = (Done & { readonly fruit: Fields; readonly context: Fields }) | RefusedCall;
/**
 * The fruit of the ended visit and the context of the new visit; or the refusal, after which the present visit
 * continues.
 */
export type HopResult =
  | (Done & {
      readonly from: string;
      readonly to: string;
      readonly exit: string;
      readonly fruit: Fields;
      readonly context: Fields;
    })
  | RefusedCall;
/** The started sub-agent or agent of the agency; or the refusal. */
export type DelegateResult =
  | (Done & {
      /** The id of the sub-agent's session, which must name the entry `delegation`; null for the agency. */
      readonly session: string | null;
      readonly delegation: string;
      readonly to: string;
      readonly within: 'parent' | 'own';
      readonly context: Fields;
    })
  | RefusedCall;
/** The new mode; or the refusal. */
export type ModeResult = (Done & { readonly mode: Mode }) | RefusedCall;
export type CloseResult =
  | (Done & {
      /** Patterns that were selected and whose outcome was never recorded. */
      readonly openSelections: readonly string[];
    })
  | RefusedCall;
