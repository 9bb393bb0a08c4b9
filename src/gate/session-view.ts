import type { Lazy } from '../base/lazy.ts';
import type { Fields, Mode } from '../spec/types.ts';
import type { GrantView } from './approvals/grant.ts';
import type { ObservedTree } from './scope/compare-trees.ts';

/** The status of a pattern in a session: `selected` by a PSR, or the outcome that its last PUR recorded. */
export type PatternStatus = 'selected' | 'held' | 'failed';

/** A summary of the session's test runs, for the gate. */
export interface TestsView {
  /**
   * True if, since the last change, every configured test command passed in full, and no two runs of one command
   * disagreed.
   */
  readonly passed: boolean;
  readonly count: number;
  readonly failed: number;
  /** The reason why a pass is outdated, such as files that changed after it; absent if it is not outdated. */
  readonly stale?: string;
}

export interface VisitView {
  readonly peripheral: string;
  readonly status: 'active' | 'expired' | 'interrupted';
  readonly steps: number;
  readonly denials: number;
  /** The end of the visit's time limit in epoch milliseconds; null without a limit. */
  readonly deadline: number | null;
  /** The commit message that each commit of the visit must have; absent or null if any message is allowed. */
  readonly message?: string | null;
  /** The observed fields of the visit's fruit so far. */
  readonly observedFruit: Lazy<Fields>;
}

/** The gate's view of a session, computed from its state. `now` is data, because the gate has no clock. */
export interface SessionView {
  readonly sessionId: string;
  readonly agent: string;
  /** Absolute path of the repository. */
  readonly root: string;
  readonly now: number;
  readonly closed: boolean;
  readonly mode: Mode | null;
  readonly visit: VisitView | null;
  readonly visits: { readonly [peripheral: string]: number };
  readonly steps: number;
  readonly denials: number;
  /** True if a step succeeded since the last PAR and nothing is pending. */
  readonly naturalClose: boolean;
  /** The acting tool whose outcome is not recorded yet; absent if there is none. */
  readonly pending?: string;
  readonly tests: TestsView;
  /** The checks whose last value is `pass`, without a change since; absent if there are none. */
  readonly checks?: readonly string[];
  readonly patterns: { readonly [pattern: string]: PatternStatus };
  readonly backpack: Fields;
  /** The fruit of the last finished visit to each peripheral. */
  readonly fruits: { readonly [peripheral: string]: Fields };
  /** Root-relative files that this session's entries name. */
  readonly files: readonly string[];
  /** By path: the sha256 of each changed file after its last change; null if it was deleted or not observed. */
  readonly changes: Lazy<{ readonly [path: string]: string | null }>;
  /** Findings about the changes that a person must see before they ship, by path or test command. */
  readonly findings?: { readonly [path: string]: string };
  /** The working tree; absent if the request does not depend on it or no backend observes it. */
  readonly tree?: ObservedTree;
  /** Tools of the catalogue that no backend serves in this session; absent if all are served. */
  readonly unserved?: ReadonlySet<string>;
  /** True if the session only records refusals and runs the refused calls. */
  readonly observeOnly?: boolean;
  readonly usedNonces: readonly string[];
  /** The operator's grants for this session, the oldest first. */
  readonly grants?: readonly GrantView[];
  /** True if the effects of a step were not observed, so that the changed files are not known. */
  readonly blind?: boolean;
}

/** True if the time of the visit is up: its end is recorded, or its deadline has passed. */
export const isTimeUp = ({ visit, now }: SessionView): boolean =>
  visit !== null && (visit.status === 'expired' || (visit.deadline !== null && now >= visit.deadline));
