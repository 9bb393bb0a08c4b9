import { fieldsOf, textOf } from '../../base/json.ts';
import { type SpecTables, stateAfter } from '../../compile/spec-tables.ts';
import {
  type Body,
  type GrantBody,
  type OutcomeBody,
  type OutcomeRecord,
  type StepBody,
  toBody,
} from '../../evidence/bodies.ts';
import type { Entry, StoredEntry } from '../../evidence/entry.ts';
import { updateFindings } from '../../evidence/findings/findings.ts';
import { patternStatusAfter } from '../../evidence/patterns/pattern-tools.ts';
import { runningCommandsAfter } from '../../evidence/running-commands.ts';
import { stepWaitingTimeMs } from '../../evidence/waiting-time.ts';
import { addCommitToGrant, firstUncoveredFile, type GrantLimits, type GrantView } from '../../gate/approvals/grant.ts';
import { backpackFieldsOf } from '../../gate/fruit.ts';
import type { RequirementFacts } from '../../gate/requirements/requirement.ts';
import type { TreeState, TreeToShip } from '../../gate/scope/compare-trees.ts';
import { StoreError } from '../../ports/evidence-store.ts';
import { getOwn } from '../../spec/names.ts';
import { INSTALL_TOOL_ID } from '../../spec/policy/command-tools.ts';
import { SESSION_IDENTITY_FIELDS } from '../../spec/policy/reserved-fields.ts';
import { fieldsReportedByTools } from '../../spec/reported-fields.ts';
import type { Fields, SpecSet } from '../../spec/types.ts';
import { addFilesOfStep } from './count-files.ts';
import { machineEventsOf } from './machine-events.ts';
import {
  addStepToObservations,
  changedPathsIn,
  NO_OBSERVATIONS,
  readTestRuns,
  trustedCommandKind,
} from './observations.ts';
import type { SessionFacts, SessionState, VisitState } from './session-state.ts';

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

/**
 * A copy of a session's facts whose fields may be set. Its lists and objects belong to the previous state, so they are
 * replaced and never changed: a step of a long session copies only what it changes.
 */
type Draft = {
  -readonly [Field in keyof SessionFacts]: Field extends 'visit' ? VisitDraft | null : SessionFacts[Field];
};
type VisitDraft = { -readonly [Field in keyof VisitState]: VisitState[Field] };

function factsAfter(tables: SpecTables, before: SessionFacts, entry: Entry, body: Body | null): SessionFacts {
  const isStep = body?.event === 'step' || body?.event === 'outcome';
  const draft: Draft = {
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

function applyBody({ specs }: SpecTables, draft: Draft, entry: Entry, body: Body): void {
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

function applyStep(specs: SpecSet, draft: Draft, entry: Entry, body: StepBody | OutcomeBody): void {
  const { visit } = draft;
  draft.pending = null;
  // A refused call of an observing tool does not count; it is recorded only for its effects.
  const steps = body.event === 'step' && body.outcome.status === 'refused' ? 0 : 1;
  draft.steps += steps;
  if (body.outcome.status === 'ok') draft.successes += 1;
  const commandKind = trustedCommandKind(specs, visit?.peripheral, body.tool);
  const mayChange = body.event === 'outcome' || changedPathsIn(body.effects).length > 0;
  const changes = mayChange && countChanges(draft, body.effects);
  // Test results and checks may depend on a changed resource, or on files that git ignores.
  if (
    body.tool === INSTALL_TOOL_ID ||
    (body.effects !== 'unobserved' && body.effects.some(({ op }) => op === 'resource'))
  )
    draft.change += 1;
  // The effects of a deploy command are outside of the working tree.
  if (body.effects === 'unobserved' && mayChange && commandKind !== 'deploy') draft.blind = true;
  const counts = body.outcome.status === 'ok' && commandKind === 'test';
  if (counts) {
    const result = fieldsOf(body.outcome.result);
    applyTestedTree(draft, fieldsOf(result['tree']) as unknown as TreeState);
    const runs = readTestRuns(result, draft.change);
    draft.runs = [...draft.runs, ...runs];
    if (runs.some(({ verdict }) => verdict !== 'pass'))
      endGrants(draft, ({ testsPass }) => testsPass && 'a test run did not pass');
  }
  const { committed, sha } = fieldsOf(
    commandKind === 'deploy' && body.outcome.status === 'ok' ? body.outcome.result : null,
  );
  if (committed === true && typeof sha === 'string')
    draft.grants = draft.grants.map((grant) => addCommitToGrant(grant, sha));
  if (visit) {
    if (visit.deadline !== null) visit.deadline += stepWaitingTimeMs(specs.tools, body);
    visit.steps += steps;
    // The next step replies to the head of the visit. A conclusion or a reply to a selection is never the head.
    if (body.event === 'outcome' || (entry.inReplyTo === visit.headId && entry.claim !== 'conclusion'))
      visit.headId = entry.id;
    visit.background = runningCommandsAfter(visit.background, body);
    visit.observations = addStepToObservations(visit.observations, body, draft.change, commandKind);
  }
  if (changes) {
    const changed = changedPathsIn(body.effects);
    endGrants(draft, ({ files }) => {
      const outside = files && firstUncoveredFile(changed, files);
      return outside && `a file that the grant does not cover has changed: ${outside}`;
    });
  }
  applyReported(specs, draft, body);
  if (counts || mayFind(body.effects)) {
    draft.findings = { ...draft.findings };
    updateFindings(draft.findings, body.effects, counts ? body.outcome.result : undefined);
  }
  applyPattern(draft, entry.id, body.tool, body.outcome);
}

/** True if the effects of a step may add or remove a finding. */
const mayFind = (effects: StepBody['effects']): boolean =>
  effects !== 'unobserved' && effects.some(({ op, finding }) => finding !== undefined || op === 'delete');

/** The maximum number of the operator's acts that are kept for a client. */
const MAX_ACTS = 20;

/** True for the operator's own acts on the session: a hop, a stop, a mode change, a note. */
const isOperatorAct = (body: Body): boolean =>
  (body.event === 'note' ||
    body.event === 'hop' ||
    body.event === 'mode' ||
    (body.event === 'stop' && body.exit === null)) &&
  body.by === 'operator';

function endGrants(draft: Draft, why: (limits: GrantLimits, id: string) => string | false | null | undefined): void {
  draft.grants = draft.grants.map((grant) => ({
    ...grant,
    ended: grant.ended ?? (why(grant.limits, grant.id) || null),
  }));
}

/** Fields of the backpack that context and fruit never overwrite: the session's identity and its changed files. */
const KEPT = [...SESSION_IDENTITY_FIELDS, 'changed-files'];

function packBackpack(draft: Draft, fields: Fields): void {
  const packed = Object.entries(fields).filter(
    ([field]) => !KEPT.includes(field) || getOwn(draft.backpack, field) === undefined,
  );
  draft.backpack = { ...draft.backpack, ...Object.fromEntries(packed) };
}

/** Counts a change of the tree, or a possible one, which outdates earlier test results. Returns false for no change. */
function countChanges(draft: Draft, effects: Parameters<typeof changedPathsIn>[0]): boolean {
  if (effects !== 'unobserved' && changedPathsIn(effects).length === 0) return false;
  draft.change += 1;
  return true;
}

/**
 * Takes over the tree of a test run. If it differs from the tree of the previous run, somebody else has changed files,
 * which counts as a change.
 */
function applyTestedTree(draft: Draft, tree: TreeState): void {
  const seen = typeof tree.id === 'string' ? tree : null;
  if (draft.tested?.id !== seen?.id) draft.change += 1;
  draft.tested = seen;
}

/** Takes over the report of a backend: session state goes to the backpack, and a check counts for the present code. */
function applyReported({ tools }: SpecSet, draft: Draft, { observed = {}, state = {} }: StepBody | OutcomeBody): void {
  if (Object.keys(state).length > 0) draft.backpack = { ...draft.backpack, ...state };
  if (Object.keys(observed).length === 0) return;
  for (const field of Object.values(fieldsReportedByTools({ tools }).checks))
    if (Object.hasOwn(observed, field))
      draft.checks = { ...draft.checks, [field]: { value: observed[field]!, change: draft.change } };
}

/** Takes over the status of a pattern: a PSR selects it, and a PUR records whether it held. */
function applyPattern(draft: Draft, id: string, tool: string, outcome: OutcomeRecord): void {
  const after = patternStatusAfter(tool, outcome);
  if (!after) return;
  draft.patterns = { ...draft.patterns, [after.pattern]: after.status };
  if (after.selects) draft.selections = { ...draft.selections, [after.pattern]: id };
}
