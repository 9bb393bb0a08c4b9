import type { Json, Mode } from '../spec/types.ts';
import type { TreeNow } from './scope/tree.ts';

/** How a named pattern stands in this session: a PSR selected it; its last PUR said that it held, or that it failed. */
export type PatternStanding = 'selected' | 'held' | 'failed';

/** The test runs of a session, as far as the gate cares. */
export interface TestsView {
  /** Since the last change every configured test command passed in full, and no two runs of one disagreed. */
  readonly passed: boolean;
  readonly count: number;
  readonly failed: number;
  /** Why a pass does not count any more: the files are others now. */
  readonly stale?: string;
}

export interface VisitView {
  readonly peripheral: string;
  readonly status: 'active' | 'expired' | 'interrupted';
  readonly steps: number;
  readonly denials: number;
  /** Epoch milliseconds; null without a time limit. */
  readonly deadline: number | null;
  /** Observed fruit fields so far, by field name. */
  readonly observed: { readonly [field: string]: Json };
}

/**
 * What the gate is told about a session: a read-only projection of the fold over its evidence. `now` rides in as data, because the gate has
 * no clock.
 */
export interface SessionView {
  readonly sessionId: string;
  readonly agent: string;
  /** Absolute path of the repository. */
  readonly root: string;
  readonly now: number;
  readonly closed: boolean;
  readonly mode: Mode | null;
  readonly visit: VisitView | null;
  /** Visits so far, by peripheral. */
  readonly visits: { readonly [peripheral: string]: number };
  readonly steps: number;
  readonly denials: number;
  /** A step succeeded since the last PAR and nothing is pending. */
  readonly naturalClose: boolean;
  readonly tests: TestsView;
  readonly patterns: { readonly [pattern: string]: PatternStanding };
  readonly backpack: { readonly [field: string]: Json };
  /** The fruit of the last finished visit to each peripheral. */
  readonly fruits: { readonly [peripheral: string]: { readonly [field: string]: Json } };
  /** Root-relative files that this session's entries name. */
  readonly files: readonly string[];
  /** What this session changed: the sha256 of each file as the last change left it, null where it was deleted or nobody saw. */
  readonly changes: { readonly [path: string]: string | null };
  /** What a person must know about the changes before they ship, by path or test command. */
  readonly findings?: { readonly [path: string]: string };
  /** The working tree, where the request depends on it and something observes it. */
  readonly tree?: TreeNow;
  /** Tools of the catalogue that nothing runs in this session; absent: there are none. */
  readonly unserved?: ReadonlySet<string>;
  /** Nonces of approvals that were used. */
  readonly usedNonces: readonly string[];
}
