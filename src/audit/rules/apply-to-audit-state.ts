import { type Fields, fieldsOf, textOf } from '../../base/json.ts';
import type { Body, OutcomeBody, StepBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import { updateFindings } from '../../evidence/findings/findings.ts';
import { patternStatusAfter } from '../../evidence/patterns/pattern-tools.ts';
import { runningCommandsAfter } from '../../evidence/running-commands.ts';
import { stepWaitingTimeMs } from '../../evidence/waiting-time.ts';
import { getOwn } from '../../spec/names.ts';
import { INSTALL_TOOL_ID } from '../../spec/policy/command-tools.ts';
import { NON_FILE_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import { MAX_FILES_IN_SESSION_LOG } from '../../spec/policy/limits.ts';
import { SESSION_IDENTITY_FIELDS } from '../../spec/policy/reserved-fields.ts';
import { CHECK_PASSED_VALUE, fieldsReportedByTools } from '../../spec/reported-fields.ts';
import type { Json } from '../../spec/types.ts';
import { type AuditState, peripheralScope } from './audit-state.ts';
import {
  addStepObservations,
  addWithinLimit,
  emptyObservations,
  isFileChange,
  trustedReportKind,
} from './audited-observations.ts';
import { noTestRuns } from './test-runs.ts';

/** Backpack fields that a context or a fruit sets only if they are empty: the identity, and the changed files. */
const LASTING = [...SESSION_IDENTITY_FIELDS, 'changed-files'];

function packBackpack(backpack: Fields, more: Fields): Fields {
  const lasting = Object.entries(backpack).filter(([field]) => LASTING.includes(field));
  return { ...backpack, ...more, ...Object.fromEntries(lasting) };
}

export const nonNullFields = (fruit: Fields): Fields =>
  Object.fromEntries(Object.entries(fruit).filter(([, value]) => value !== null));

/** The fields of an entry that change the audit's state. */
type EntryChange = Pick<Entry, 'sessionId' | 'peripheral' | 'tags'>;

/**
 * Applies an entry to a state. It changes `state` itself, so that a log of any length needs little memory.
 * @param body null if it cannot be read; `erased` if it was erased, so that only the entry's head is known
 * @param at epoch milliseconds
 */
export function applyToAuditState(
  state: AuditState,
  entry: EntryChange,
  body: Body | 'erased' | null,
  at: number,
): void {
  const event = body === 'erased' ? null : (body?.event ?? null);
  if (state.sessionId === '') state.sessionId = entry.sessionId;
  if (event !== 'stop' && event !== 'hop' && event !== 'grant' && event !== 'approval')
    state.successesBeforeReview = null;
  if (body !== null) {
    const { leaving } = state;
    state.leaving = null;
    state.arriving = null;
    if (body === 'erased') applyErased(state, entry);
    else applyBody(state, body, leaving);
  }
  state.lastAt = Math.max(state.lastAt, at || 0);
  if (event !== 'expired' && event !== 'interrupted' && event !== 'grant-end') state.activeAt = state.lastAt;
}

/** Sets an unknown mode from the head of an entry. The mode is unknown after an erased change of mode. */
export function setModeIfUnknown(state: AuditState, { mode }: Pick<Entry, 'mode'>): void {
  if (state.mode === null && state.pinned.specs.modeGate) state.mode = mode;
}

function applyBody(state: AuditState, body: Body, leaving: AuditState['leaving']): void {
  const { visit } = state;
  switch (body.event) {
    case 'session-open':
      state.opened = true;
      state.agent = body.agent;
      state.root = body.root;
      state.unsafeNoSandbox = body.unsafeNoSandbox;
      state.hasParent = body.parent !== undefined;
      state.backpack = { 'session-id': state.sessionId, author: body.agent };
      return;
    case 'start':
      enterPeripheral(state, body.peripheral, body.deadline);
      if (state.visit) state.visit.message = textOf(body.context['commit-message']);
      state.backpack = packBackpack(state.backpack, body.context);
      return;
    case 'intent':
      state.pending = { tool: body.tool, args: body.args };
      return;
    case 'interrupted':
      // The effects of the step are unknown, so it may have changed the code.
      state.pending = null;
      dropResults(state);
      if (visit) visit.steps += 1;
      return;
    case 'step':
    case 'outcome':
      applyResult(state, body);
      return;
    case 'denial':
      if (body.enforced === false) return;
      state.denials += 1;
      if (!visit) return;
      visit.denials += 1;
      visit.observations.refusals += 1;
      return;
    case 'par':
      state.successesBeforeReview = state.successes;
      state.successes = 0;
      if (visit) visit.observations.par = { ...body.par };
      return;
    case 'stop': {
      const { exit, reason, by, fruit } = body;
      const { backpack, successesBeforeReview } = state;
      const successes = successesBeforeReview ?? state.successes;
      if (exit !== null && visit) state.leaving = { visit, fruit, backpack, successes, exit, reason, by };
      state.fruits = { ...state.fruits, [body.peripheral]: fruit };
      state.backpack = packBackpack(backpack, nonNullFields(fruit));
      state.visit = null;
      return;
    }
    case 'hop':
      state.arriving = {
        hop: body,
        backpack: leaving ? { ...leaving.backpack, ...nonNullFields(leaving.fruit) } : state.backpack,
      };
      return;
    case 'mode':
      state.mode = state.pinned.specs.modeGate ? body.to : null;
      return;
    case 'expired':
      if (visit) visit.expired = true;
      return;
    case 'session-closed':
      state.closed = true;
      return;
    case 'delegation':
    case 'message':
    case 'receipt':
    case 'approval':
    case 'grant':
    case 'grant-end':
    case 'note':
      return;
    default:
      body satisfies never;
  }
}

function enterPeripheral(state: AuditState, peripheral: string, deadline: number | null): void {
  const { specs, config } = state.pinned;
  const spec = getOwn(specs.peripherals, peripheral);
  const counts = { steps: 0, denials: 0, expired: false, background: [] };
  state.visit = {
    peripheral,
    spec,
    scope: peripheralScope(spec, config),
    deadline,
    observations: emptyObservations(),
    message: null,
    ...counts,
  };
  state.visits = { ...state.visits, [peripheral]: (state.visits[peripheral] ?? 0) + 1 };
}

function applyResult(state: AuditState, body: Extract<Body, { event: 'step' | 'outcome' }>): void {
  const { visit } = state;
  const { tool, outcome } = body;
  const effects = body.effects === 'unobserved' ? [] : body.effects;
  const changes = effects.filter(isFileChange);
  if (body.event === 'outcome') state.pending = null;
  // A refused call of an observing tool does not count; it is recorded only for its effects.
  const steps = body.event === 'step' && outcome.status === 'refused' ? 0 : 1;
  state.steps += steps;
  if (outcome.status === 'ok') state.successes += 1;
  // A possible change of the code invalidates older test runs.
  if (changes.length > 0 || (body.event === 'outcome' && body.effects === 'unobserved')) {
    dropResults(state);
    const { changes: known, backpack } = state;
    const before = backpack['changed-files'];
    const added = changes.filter(({ path }) => !Object.hasOwn(known, path)).map(({ path }) => path);
    for (const { path, after } of changes) known[path] = after ?? null;
    if (added.length > 0 || !Array.isArray(before))
      state.backpack = { ...backpack, 'changed-files': appendPaths(before, added) };
  }
  // An install or a resource change makes earlier results void: tests may depend on files that git ignores.
  if (tool === INSTALL_TOOL_ID || effects.some(({ op }) => op === 'resource')) dropResults(state);
  for (const { op, path } of effects)
    if (!NON_FILE_EFFECT_KINDS.includes(op)) addWithinLimit(MAX_FILES_IN_SESSION_LOG, state.files, path);
  const pattern = patternStatusAfter(tool, outcome);
  if (pattern) state.patterns = { ...state.patterns, [pattern.pattern]: pattern.status };
  const isTested =
    outcome.status === 'ok' && visit && trustedReportKind(visit.scope, state.pinned.specs, tool) === 'test';
  updateFindings(state.findings, body.effects, isTested ? outcome.result : undefined);
  if (!visit) return;
  if (visit.deadline !== null) visit.deadline += stepWaitingTimeMs(state.pinned.specs.tools, body);
  visit.steps += steps;
  visit.background = runningCommandsAfter(visit.background, body);
  if (isTested) {
    const tree = textOf(fieldsOf(fieldsOf(outcome.result)['tree'])['id']);
    // Somebody else has changed the code since the previous run.
    if (tree !== state.tested) dropResults(state);
    state.tested = tree;
  }
  countReported(state, body);
  addStepObservations(visit, state.pinned.specs, body, effects, changes, state.tests);
}

/** Drops the results of tests and checks, because they belong to the code before a change. */
function dropResults(state: AuditState): void {
  state.tests = noTestRuns();
  state.checks = new Set();
}

/** Adds the fields that a backend reported: session state to the backpack, and each check with its last value. */
function countReported(state: AuditState, { observed = {}, state: kept = {} }: StepBody | OutcomeBody): void {
  if (Object.keys(kept).length > 0) state.backpack = { ...state.backpack, ...kept };
  const fields = Object.values(fieldsReportedByTools(state.pinned.specs).checks).filter((each) =>
    Object.hasOwn(observed, each),
  );
  if (fields.length === 0) return;
  const passed = new Set(state.checks);
  for (const field of fields) {
    if (observed[field] === CHECK_PASSED_VALUE) passed.add(field);
    else passed.delete(field);
  }
  state.checks = passed;
}

const appendPaths = (list: Json | undefined, more: readonly string[]): Json => [
  ...new Set([...(Array.isArray(list) ? list : []), ...more]),
];

/** Applies an entry whose body was erased, by its event, which the tags of the entry still name. */
function applyErased(state: AuditState, { tags, peripheral }: EntryChange): void {
  state.history = 'erased';
  const { visit } = state;
  const has = (event: Body['event']): boolean => tags.includes(event);
  if (has('session-open')) state.opened = true;
  if (has('session-closed')) state.closed = true;
  if (has('intent')) state.pending = { tool: 'erased', args: {} };
  if (has('outcome') || has('interrupted')) state.pending = null;
  if (has('mode')) state.mode = null;
  if (has('stop')) state.visit = null;
  if (has('start') && peripheral !== null) enterPeripheral(state, peripheral, null);
  else if (visit && (has('step') || has('outcome') || has('interrupted'))) visit.steps += 1;
}
