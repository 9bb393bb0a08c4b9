import type { SpecTables } from '../../compile/spec-tables.ts';
import { CLOSED, OUTSIDE } from '../../compile/special-states.ts';
import type { DelegationBody } from '../../evidence/bodies.ts';
import { type ChainHead, EMPTY_CHAIN } from '../../evidence/entry.ts';
import type { GrantView } from '../../gate/approvals/grant.ts';
import type { TreeState, TreeToShip } from '../../gate/scope/compare-trees.ts';
import type { PatternStatus } from '../../gate/session-view.ts';
import type { Json, Mode } from '../../spec/types.ts';
import type { Observations, TestRun } from './observations.ts';

export interface VisitState {
  readonly peripheral: string;
  readonly deadline: number | null;
  readonly steps: number;
  readonly denials: number;
  /** The entry that the next step, or the stop, replies to. */
  readonly headId: string;
  readonly observations: Observations;
  /** The tree that may ship from this visit: the tree that the entry to the visit depended on; null if none. */
  readonly tree: TreeToShip | null;
  /** Commands in the background whose end is not recorded. */
  readonly background: readonly string[];
  /** The commit message in the context of the visit. */
  readonly message: string | null;
}

/** Counters and facts of a session: a pure fold over its evidence. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly agent: string;
  readonly root: string;
  readonly unsafeNoSandbox: boolean;
  readonly openedId: string;
  /** Epoch milliseconds of the last entry. */
  readonly lastAt: number;
  readonly lastId: string | null;
  readonly visit: VisitState | null;
  readonly visits: { readonly [peripheral: string]: number };
  readonly steps: number;
  readonly denials: number;
  /** Successful steps since the last PAR. */
  readonly successes: number;
  /** An intent whose outcome is not recorded. */
  readonly pending: { readonly id: string; readonly tool: string } | null;
  /** The number of changes, or possible changes, of the tree. */
  readonly change: number;
  /** The changed files with their last hash, in the order of the changes; the last entry of a path counts. */
  readonly changes: readonly (readonly [path: string, hash: string | null])[];
  /** Findings about the changes that a person must see before they ship, by path or test command. */
  readonly findings: { readonly [path: string]: string };
  readonly runs: readonly TestRun[];
  /** The tree of the last test run; null if the run did not record it. */
  readonly tested: TreeState | null;
  /** True if the tree was changed by an unobserved effect. */
  readonly blind: boolean;
  /** The last value of each check, and the value of {@link SessionFacts.change} at that time. */
  readonly checks: { readonly [field: string]: { readonly value: Json; readonly change: number } };
  readonly files: readonly string[];
  readonly patterns: { readonly [pattern: string]: PatternStatus };
  /** The entry that last selected each pattern; outcomes of the pattern reply to it. */
  readonly selections: { readonly [pattern: string]: string };
  readonly backpack: { readonly [field: string]: Json };
  readonly fruits: { readonly [peripheral: string]: { readonly [field: string]: Json } };
  /** The last recorded positions: in the inbox, and among the receipts of the session's own messages. */
  readonly inbox: { readonly seq: number; readonly receipt: number };
  readonly usedNonces: readonly string[];
  readonly grants: readonly GrantView[];
  /** The `seq` of the last acts and notes of the operator, the newest last; hooks report them to the agent. */
  readonly operatorActs: readonly number[];
  /** The delegations of the present visit in the present mode, oldest first: a sub-agent may begin with one of them. */
  readonly delegations: readonly Delegation[];
  /** The id of the hop whose start is not recorded yet: the start replies to it. */
  readonly hopId: string | null;
  /** The tree that the last hop depended on; the start that follows records it too. */
  readonly hopTree: TreeToShip | null;
}

/** A recorded start of a sub-agent. `id`: of the entry; `session`: the id of the sub-agent's session. */
export type Delegation = Pick<DelegationBody, 'from' | 'to' | 'within' | 'context'> & {
  readonly id: string;
  readonly session: string;
};

/** A session's state: the states of its machines, the head of its chain, and the facts. Can be stored as JSON. */
export interface SessionState {
  /** null if the spec set has no mode gate. */
  readonly mode: Mode | null;
  readonly hopGraph: string;
  /** null before the first visit. */
  readonly lifecycle: string | null;
  readonly head: ChainHead;
  readonly facts: SessionFacts;
}

export function initialState({ specs }: Pick<SpecTables, 'specs'>, sessionId: string): SessionState {
  return {
    mode: specs.modeGate?.initial ?? null,
    hopGraph: OUTSIDE,
    lifecycle: null,
    head: EMPTY_CHAIN,
    facts: {
      sessionId,
      agent: '',
      root: '/',
      unsafeNoSandbox: false,
      openedId: '',
      lastAt: 0,
      lastId: null,
      visit: null,
      visits: {},
      steps: 0,
      denials: 0,
      successes: 0,
      pending: null,
      change: 0,
      changes: [],
      findings: {},
      runs: [],
      tested: null,
      blind: false,
      checks: {},
      files: [],
      patterns: {},
      selections: {},
      backpack: {},
      fruits: {},
      inbox: { seq: 0, receipt: 0 },
      usedNonces: [],
      grants: [],
      operatorActs: [],
      delegations: [],
      hopId: null,
      hopTree: null,
    },
  };
}

export const isSessionClosed = ({ hopGraph }: SessionState): boolean => hopGraph === CLOSED;
