import type { Fields } from '../base/json.ts';
import { valueOfLazy } from '../base/lazy.ts';
import { isTimeUp, type SessionView } from '../gate/session-view.ts';
import type { Mode } from '../spec/types.ts';

/** The status of a session, for people and prompts. */
export interface SessionStatus {
  readonly sessionId: string;
  readonly agent: string;
  readonly mode: Mode | null;
  readonly peripheral: string | null;
  /** `active`, or the reason why the visit allows only a stop and hops; null outside of any peripheral. */
  readonly visit: 'active' | 'expired' | 'interrupted' | null;
  readonly closed: boolean;
  readonly steps: number;
  readonly denials: number;
  readonly visits: { readonly [peripheral: string]: number };
  readonly backpack: Fields;
  readonly fruits: { readonly [peripheral: string]: Fields };
  /**
   * The present visit: its steps, the end of its time limit (epoch milliseconds), its observed fruit; null outside of
   * any.
   */
  readonly here: { readonly steps: number; readonly deadline: number | null; readonly observed: Fields } | null;
  /** True if the session only records refusals and runs the refused calls. */
  readonly observeOnly: boolean;
  /** Root-relative files that this session changed. */
  readonly changedFiles: readonly string[];
}

/** The status of a session, from the gate's view of it. Pure. */
export const sessionStatusOf = (view: SessionView): SessionStatus => ({
  sessionId: view.sessionId,
  agent: view.agent,
  mode: view.mode,
  peripheral: view.visit?.peripheral ?? null,
  visit: isTimeUp(view) && !view.observeOnly ? 'expired' : (view.visit?.status ?? null),
  closed: view.closed,
  steps: view.steps,
  denials: view.denials,
  visits: view.visits,
  backpack: view.backpack,
  fruits: view.fruits,
  here: view.visit && {
    steps: view.visit.steps,
    deadline: view.visit.deadline,
    observed: valueOfLazy(view.visit.observedFruit),
  },
  observeOnly: view.observeOnly ?? false,
  changedFiles: Object.keys(valueOfLazy(view.changes)),
});
