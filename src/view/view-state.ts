// A session as a page shows it: plain data. The page imports this file, so it must not import code.
import type { Mode, ToolEffect } from '../spec/types.ts';

/** The status of a hop: `asks` if only an approval is missing, `yours` if only the operator can do it. */
type HopStatus = 'open' | 'asks' | 'yours' | 'closed';

/** A requirement of a hop that is not met, in words. */
export interface UnmetHopRequirement {
  readonly words: string;
  /** True if the tests passed once, but not since the last change. */
  readonly stale?: true;
}

/** A hop that the session could request: one exit to one peripheral, as the gate judges it now. */
export interface HopOption {
  readonly exit: string | null;
  readonly to: string;
  readonly status: HopStatus;
  readonly missing: readonly UnmetHopRequirement[];
  /** The gate's remedy; empty if the exit is open. */
  readonly remedy: string;
}

export interface ViewHop {
  readonly from: string | null;
  readonly to: string;
}

/** A session after one of its entries, as a person sees it. */
export interface ViewState {
  readonly agent: string;
  readonly root: string;
  /** The present peripheral; null outside of any peripheral. */
  readonly peripheral: string | null;
  readonly visit: 'active' | 'expired' | 'interrupted' | null;
  /** Epoch milliseconds at which the visit's time limit ends; null without a limit. */
  readonly deadline: number | null;
  /** The present mode; null if the spec set has no mode gate. */
  readonly mode: Mode | null;
  /** True in an observe-only session: refused calls run all the same, and the refusal is recorded. */
  readonly observeOnly: boolean;
  /** The strongest effect of tools that the mode allows; null without a mode gate, or if it allows none. */
  readonly reach: ToolEffect | null;
  readonly closed: boolean;
  readonly steps: number;
  readonly denials: number;
  /** The name of the running tool; null if none runs. */
  readonly running: string | null;
  /** The tools that peripheral and mode allow now. */
  readonly tools: readonly string[];
  readonly ways: readonly HopOption[];
  readonly modes: readonly { readonly to: Mode; readonly needs: readonly string[] }[];
  /** The last peripherals, oldest first, with the time at which each was entered. */
  readonly trail: readonly { readonly peripheral: string; readonly at: number }[];
  /** The hops that the last refusal suggested, for the page to highlight; empty after any other entry. */
  readonly lit: readonly ViewHop[];
  readonly tests: { readonly passed: boolean; readonly count: number; readonly failed: number };
  readonly changed: { readonly path: string; readonly at: number } | null;
  /** The reviews of the session: their number, the time of the last one, and whether work was done after it. */
  readonly par: { readonly count: number; readonly at: number | null; readonly due: boolean };
  readonly backpack: { readonly [field: string]: string };
  /** The files that the session changed, with the last change of each. */
  readonly files: { readonly [path: string]: string };
}

/** The fields of a {@link ViewState} that an entry changed. In a map, null removes a member. */
type ViewDelta = Partial<Omit<ViewState, 'backpack' | 'files'>> & {
  readonly backpack?: { readonly [field: string]: string | null };
  readonly files?: { readonly [path: string]: string | null };
};

/** A row of the page: entries that belong together, summarised. Empty fields are absent. */
export interface EntryRow {
  /** The `seq` of the row's first entry. A later frame with the same key replaces the row. */
  readonly key: number;
  readonly seqs: readonly number[];
  readonly event: string;
  readonly mark?: 'ok' | 'failed' | 'refused' | 'unknown';
  readonly action: string;
  readonly result?: string;
  readonly notes?: readonly string[];
  readonly remedy?: string;
  readonly at: number;
  /** Milliseconds from the intent to the outcome. */
  readonly durationMs?: number;
  /** The row's depth in the tree of replies. */
  readonly depth?: number;
  readonly peripheral: string | null;
  readonly tool?: string;
  /** The code of the refusal; in an observe-only session, of the refusal that enforcement would have given. */
  readonly code?: string;
  /** The message of the refusal that enforcement would have given. */
  readonly wouldRefuse?: string;
  /** The last recorded state of a message. */
  readonly state?: string;
  readonly paths?: readonly string[];
}

/** The changes by one entry: its row, and the state after it. */
export interface ViewFrame {
  readonly seq: number;
  readonly at: number;
  /** The entry's event, for the tick on the time bar. */
  readonly event: string;
  readonly row: EntryRow;
  /** The keys of earlier rows that are now a part of this row. */
  readonly replaces?: readonly number[];
  readonly delta: ViewDelta;
}

/** The hop graph with its positions, which depend on the spec set alone. */
export interface ViewGraph {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly ViewNode[];
  readonly edges: readonly ViewEdge[];
}
export interface ViewNode {
  readonly id: string;
  readonly purpose: string;
  readonly tools: readonly string[];
  readonly effect: ToolEffect | null;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
export interface ViewEdge {
  readonly from: string;
  readonly to: string;
  readonly exits: readonly string[];
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A body of the evidence as JSON, with its entry's number, time and author. */
export interface EntryDetail {
  readonly seq: number;
  readonly at: string;
  readonly author: string;
  readonly body: string;
}

/** The data of a recording: `hopgate record` writes it, the page reads it. */
export interface Recording {
  readonly graphs: readonly ViewGraph[];
  readonly sessions: readonly {
    readonly id: string;
    /** The name of its repository's folder. */
    readonly folder: string;
    readonly graph: number;
    readonly frames: readonly ViewFrame[];
    readonly details: { readonly [seq: number]: EntryDetail };
  }[];
}

export const EMPTY_VIEW_STATE: ViewState = {
  agent: '',
  root: '',
  peripheral: null,
  visit: null,
  deadline: null,
  mode: null,
  observeOnly: false,
  reach: null,
  closed: false,
  steps: 0,
  denials: 0,
  running: null,
  tools: [],
  ways: [],
  modes: [],
  trail: [],
  lit: [],
  tests: { passed: false, count: 0, failed: 0 },
  changed: null,
  par: { count: 0, at: null, due: false },
  backpack: {},
  files: {},
};

const MAPS = ['backpack', 'files'] as const;

export function viewDeltaOf(before: ViewState, after: ViewState): ViewDelta {
  const delta: { [field: string]: unknown } = {};
  for (const key of Object.keys(after) as (keyof ViewState)[]) {
    if (before[key] === after[key] || key === 'backpack' || key === 'files') continue;
    if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) delta[key] = after[key];
  }
  for (const key of MAPS) {
    if (before[key] === after[key]) continue;
    const changed = mapDelta(before[key], after[key]);
    if (Object.keys(changed).length > 0) delta[key] = changed;
  }
  return delta as ViewDelta;
}

type TextMap = { readonly [name: string]: string };

function mapDelta(before: TextMap, after: TextMap): { [name: string]: string | null } {
  const changed: { [name: string]: string | null } = {};
  for (const name of Object.keys(after)) if (before[name] !== after[name]) changed[name] = after[name]!;
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) changed[name] = null;
  return changed;
}

/** The state after a frame: the inverse of {@link viewDeltaOf}. */
export function applyViewDelta(state: ViewState, { backpack, files, ...fields }: ViewDelta): ViewState {
  return {
    ...state,
    ...fields,
    ...(backpack ? { backpack: mergeTexts(state.backpack, backpack) } : {}),
    ...(files ? { files: mergeTexts(state.files, files) } : {}),
  };
}

function mergeTexts(before: TextMap, changed: { readonly [name: string]: string | null }): TextMap {
  const after = Object.entries({ ...before, ...changed }).filter((member) => member[1] !== null);
  return Object.fromEntries(after) as TextMap;
}
