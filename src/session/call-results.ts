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
interface Done {
  readonly ok: true;
  readonly evidence: readonly Entry[];
}

export type StartResult = (Done & { readonly peripheral: string; readonly context: Fields }) | RefusedCall;
export type StepResult =
  | (Done & {
      readonly result: Json;
      /** `failed` if the tool ran but could not do the task; `error` gives the reason. */
      readonly outcome: 'ok' | 'failed';
      readonly error?: { readonly code: string; readonly message: string };
      /** The refusal under enforcement, if the session only observes. */
      readonly wouldRefuse?: Denial;
    })
  | RefusedCall;
export type StopResult = (Done & { readonly fruit: Fields; readonly context: Fields }) | RefusedCall;
export type HopResult =
  | (Done & {
      readonly from: string;
      readonly to: string;
      readonly exit: string;
      readonly fruit: Fields;
      readonly context: Fields;
    })
  | RefusedCall;
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
export type ModeResult = (Done & { readonly mode: Mode }) | RefusedCall;
export type CloseResult =
  | (Done & {
      /** Patterns that were selected and whose outcome was never recorded. */
      readonly openSelections: readonly string[];
    })
  | RefusedCall;
