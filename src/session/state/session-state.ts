import type { SpecTables } from '../../compile/spec-tables.ts';
import { CLOSED_STATE, OUTSIDE_STATE } from '../../compile/special-states.ts';
import type { DelegationBody } from '../../evidence/bodies.ts';
import { type ChainHead, EMPTY_CHAIN } from '../../evidence/entry.ts';
import type { GrantView } from '../../gate/approvals/grant.ts';
import type { TreeState, TreeToShip } from '../../gate/scope/compare-trees.ts';
import type { PatternStatus } from '../../gate/session-view.ts';
import type { Fields, Json, Mode } from '../../spec/types.ts';
import type { TestRun, VisitObservations } from './observations.ts';

export interface VisitState {
  readonly peripheral: string;
  readonly deadline: number | null;
  readonly steps: number;
  readonly denials: number;
  /** The id of the entry that the next step of the visit, or its stop, replies to. */
  readonly headId: string;
  readonly observations: VisitObservations;
  /** The tree that the decision on entering the visit depended on, and that may ship; null if it depended on none. */
  readonly tree: TreeToShip | null;
  /** The background commands whose end is not recorded. */
  readonly background: readonly string[];
  /** The commit message in the context of the visit; null if it has none. */
  readonly message: string | null;
}

/** Counts and facts of a session, computed from its entries alone. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly agent: string;
  readonly root: string;
  readonly unsafeNoSandbox: boolean;
  readonly openedId: string;
  /** The time of the last entry in epoch milliseconds. */
  readonly lastAt: number;
  readonly lastId: string | null;
  readonly visit: VisitState | null;
  readonly visits: { readonly [peripheral: string]: number };
  readonly steps: number;
  readonly denials: number;
  /** The number of successful steps since the last PAR. */
  readonly successes: number;
  /** The intent of an acting tool whose outcome is not recorded; null if there is none. */
  readonly pending: { readonly id: string; readonly tool: string } | null;
  /** The number of changes, or possible changes, of the tree. */
  readonly change: number;
  /** The changed files with their sha256, in the order of the changes. The last item of a path counts. */
  readonly changes: readonly (readonly [path: string, hash: string | null])[];
  /** Findings about the changes that a person must see before they ship, by path or test command. */
  readonly findings: { readonly [path: string]: string };
  readonly runs: readonly TestRun[];
  /** The tree that the last test run tested; null if the run did not record it. */
  readonly tested: TreeState | null;
  /** True if a step had effects that were not observed. */
  readonly blind: boolean;
  /** The last value of each check, and the value of {@link SessionFacts.change} at that time. */
  readonly checks: { readonly [field: string]: { readonly value: Json; readonly change: number } };
  readonly files: readonly string[];
  readonly patterns: { readonly [pattern: string]: PatternStatus };
  /** By pattern, the id of the entry that last selected it. An outcome of the pattern replies to that entry. */
  readonly selections: { readonly [pattern: string]: string };
  readonly backpack: Fields;
  readonly fruits: { readonly [peripheral: string]: Fields };
  /**
   * The last recorded position in the inbox, and the last recorded position among the receipts of the session's own
   * messages.
   */
  readonly inbox: { readonly seq: number; readonly receipt: number };
  readonly usedNonces: readonly string[];
  readonly grants: readonly GrantView[];
  /** The `seq` of the operator's last acts and notes, the newest last. Hooks report them to the agent. */
  readonly operatorActs: readonly number[];
  /** The delegations of the present visit and mode with which a sub-agent may begin, oldest first. */
  readonly delegations: readonly RecordedDelegation[];
  /** The id of the hop whose start is not recorded yet, and which that start replies to; null if there is none. */
  readonly hopId: string | null;
  /** The tree that the last hop depended on; the start that follows records it too. */
  readonly hopTree: TreeToShip | null;
}

/** A recorded start of a sub-agent: the id of the entry, and the id of the sub-agent's session. */
export type RecordedDelegation = Pick<DelegationBody, 'from' | 'to' | 'within' | 'context'> & {
  readonly id: string;
  readonly session: string;
};

/** A session's state: the states of its machines, the head of its chain, and the facts. Can be stored as JSON. */
export interface SessionState {
  /** null if the spec set has no mode gate. */
  readonly mode: Mode | null;
  readonly hopGraph: string;
  /** The state of the visit's machine; null before the first visit. */
  readonly lifecycle: string | null;
  readonly head: ChainHead;
  readonly facts: SessionFacts;
}

export function initialSessionState({ specs }: Pick<SpecTables, 'specs'>, sessionId: string): SessionState {
  return {
    mode: specs.modeGate?.initial ?? null,
    hopGraph: OUTSIDE_STATE,
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

export const isSessionClosed = ({ hopGraph }: SessionState): boolean => hopGraph === CLOSED_STATE;
