import { textOf } from '../../base/json.ts';
import { type SpecTables, stateAfter } from '../../compile/spec-tables.ts';
import { type Body, type GrantBody, toBody } from '../../evidence/bodies.ts';
import type { Entry, StoredEntry } from '../../evidence/entry.ts';
import type { GrantView } from '../../gate/approvals/grant.ts';
import { backpackFieldsOf } from '../../gate/fruit.ts';
import type { RequirementFacts } from '../../gate/requirements/requirement.ts';
import type { TreeToShip } from '../../gate/scope/compare-trees.ts';
import { StoreError } from '../../ports/evidence-store.ts';
import { getOwn } from '../../spec/names.ts';
import { SESSION_IDENTITY_FIELDS } from '../../spec/policy/reserved-fields.ts';
import type { Fields } from '../../spec/types.ts';
import { applyStep } from './apply-step.ts';
import { addFilesOfStep } from './count-files.ts';
import { endGrants, type FactsDraft } from './facts-draft.ts';
import { machineEventsOf } from './machine-events.ts';
import { NO_OBSERVATIONS } from './observations.ts';
import type { SessionFacts, SessionState } from './session-state.ts';

/** The evidence breaks its chain, or has a transition that its spec set does not have: another program altered it. */
export class FoldError extends StoreError {
  override readonly name = 'FoldError';
  constructor(message: string) {
    super('store-failed', message);
  }
}

/**
 * The state after one more entry: the machines take the entry's event, and the facts are counted. Pure, and the only
 * way to change a session's state, live or on resume.
 */
export function applyEntry(tables: SpecTables, state: SessionState, { entry }: StoredEntry): SessionState {
  const body = toBody(entry.body);
  const moved = body ? moveMachines(tables, state, entry, body) : state;
  return { ...moved, head: { seq: entry.seq, hash: entry.hash }, facts: factsAfter(tables, moved.facts, entry, body) };
}

function factsAfter(tables: SpecTables, before: SessionFacts, entry: Entry, body: Body | null): SessionFacts {
  const isStep = body?.event === 'step' || body?.event === 'outcome';
  const draft: FactsDraft = {
    ...(isStep ? addFilesOfStep(before, body) : before),
    visit: before.visit && { ...before.visit },
  };
  if (body) applyBody(tables, draft, entry, body);
  if (body && isOperatorAct(body)) draft.operatorActs = [...draft.operatorActs, entry.seq].slice(-MAX_ACTS);
  draft.lastId = entry.id;
  draft.lastAt = Math.max(draft.lastAt, Date.parse(entry.at));
  return draft;
}

function moveMachines(tables: SpecTables, state: SessionState, entry: Entry, body: Body): SessionState {
  const id = body.event === 'start' ? body.peripheral : state.facts.visit?.peripheral;
  const visit = id === undefined ? undefined : tables.lifecycle[id];
  if (body.event === 'start' && !visit)
    throw new FoldError(`entry ${entry.seq} starts "${body.peripheral}", which its spec does not have`);
  const moved = { mode: state.mode, hopGraph: state.hopGraph, lifecycle: state.lifecycle };
  if (body.event === 'start') moved.lifecycle = visit!.initial;
  for (const { machine, type, facts } of machineEventsOf(body, state)) {
    const table = machine === 'mode' ? tables.modeGate : machine === 'hopGraph' ? tables.hopGraph : visit;
    const at = moved[machine];
    const event = facts ? { type, facts: facts as RequirementFacts } : { type };
    const next = table && at !== null ? stateAfter(table, at, event) : null;
    if (next === null) {
      throw new FoldError(
        `entry ${entry.seq} (${entry.id}) records "${type}", which ${table?.id ?? machine} does not accept in "${at ?? 'nowhere'}"; run hopgate verify ${entry.sessionId}`,
      );
    }
    moved[machine] = next;
  }
  return { ...state, ...moved };
}

function applyBody({ specs }: SpecTables, draft: FactsDraft, entry: Entry, body: Body): void {
  const { visit } = draft;
  switch (body.event) {
    case 'session-open':
      draft.agent = body.agent;
      draft.root = body.root;
      draft.unsafeNoSandbox = body.unsafeNoSandbox;
      draft.openedId = entry.id;
      draft.backpack = { 'session-id': entry.sessionId, author: body.agent };
      return;
    case 'start':
      draft.visit = {
        peripheral: body.peripheral,
        deadline: body.deadline,
        steps: 0,
        denials: 0,
        headId: entry.id,
        observations: NO_OBSERVATIONS,
        tree: (body.tree as TreeToShip | undefined) ?? draft.hopTree,
        background: [],
        message: textOf(body.context['commit-message']),
      };
      draft.visits = { ...draft.visits, [body.peripheral]: (getOwn(draft.visits, body.peripheral) ?? 0) + 1 };
      packBackpack(draft, body.context);
      draft.delegations = [];
      draft.hopId = null;
      draft.hopTree = null;
      return;
    case 'step':
    case 'outcome':
      return applyStep(specs, draft, entry, body);
    case 'intent':
      draft.pending = { id: entry.id, tool: body.tool };
      if (visit) visit.headId = entry.id;
      return;
    case 'interrupted':
      draft.pending = null;
      draft.change += 1;
      if (visit) {
        visit.steps += 1;
        visit.headId = entry.id;
      }
      return;
    case 'denial':
      if (body.enforced === false) return;
      draft.denials += 1;
      if (visit) {
        visit.denials += 1;
        visit.observations = { ...visit.observations, refusals: visit.observations.refusals + 1 };
      }
      return;
    case 'par':
      draft.successes = 0;
      if (visit) {
        visit.headId = entry.id;
        visit.observations = { ...visit.observations, par: body.par };
      }
      return;
    case 'message':
      draft.inbox = { ...draft.inbox, seq: body.seq };
      return;
    case 'receipt':
      if (body.nth !== null) draft.inbox = { ...draft.inbox, receipt: body.nth };
      return;
    case 'stop':
      draft.fruits = { ...draft.fruits, [body.peripheral]: body.fruit };
      packBackpack(draft, backpackFieldsOf(body.fruit));
      draft.visit = null;
      draft.delegations = [];
      return;
    case 'mode':
      draft.delegations = [];
      return;
    case 'delegation': {
      const { from, to, within, session, context } = body;
      if (session === null) return;
      draft.delegations = [...draft.delegations, { id: entry.id, from, to, within, session, context }];
      return;
    }
    case 'hop':
      draft.hopId = entry.id;
      draft.hopTree = (body.tree as TreeToShip | undefined) ?? null;
      return;
    case 'approval': {
      const { nonce, grant } = body.record;
      draft.usedNonces = [...draft.usedNonces, nonce];
      draft.grants = draft.grants.map((one) => (one.id === grant ? { ...one, used: one.used + 1 } : one));
      return;
    }
    case 'grant':
      draft.grants = [...draft.grants, grantViewOf(body)];
      return;
    case 'grant-end':
      endGrants(draft, (_, id) => id === body.grant && `${body.by} ended it`);
      return;
    case 'expired':
    case 'note':
    case 'session-closed':
      return;
    default:
      // An imported entry may have an event that `Body` does not list.
      body satisfies never;
  }
}

/** A recorded grant as the gate sees it. */
export function grantViewOf({ id, by, action, bound, limits, grantedAt }: GrantBody): GrantView {
  const view = { id, by, action, bound, limits, givenAt: Date.parse(grantedAt), used: 0, ended: null };
  return view as GrantView;
}

/** The maximum number of the operator's acts that are kept for a client. */
const MAX_ACTS = 20;

/** True for the operator's own acts on the session: a hop, a stop, a mode change, a note. */
const isOperatorAct = (body: Body): boolean =>
  (body.event === 'note' ||
    body.event === 'hop' ||
    body.event === 'mode' ||
    (body.event === 'stop' && body.exit === null)) &&
  body.by === 'operator';

/** Fields of the backpack that context and fruit never overwrite: the session's identity and its changed files. */
const KEPT = [...SESSION_IDENTITY_FIELDS, 'changed-files'];

function packBackpack(draft: FactsDraft, fields: Fields): void {
  const packed = Object.entries(fields).filter(
    ([field]) => !KEPT.includes(field) || getOwn(draft.backpack, field) === undefined,
  );
  draft.backpack = { ...draft.backpack, ...Object.fromEntries(packed) };
}
