import { runningAfter } from '../../evidence/background.ts';
import type { Body, HopBody, OutcomeBody, StepBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import { countFindings, type FindingsByPath } from '../../evidence/findings.ts';
import { patternStatusAfter } from '../../evidence/patterns/discipline.ts';
import { waitedMs } from '../../evidence/waited.ts';
import { own } from '../../spec/names.ts';
import { IDENTITY_FIELDS, NOT_FILES } from '../../spec/policy/closed-lists.ts';
import { MAX_NAMED_FILES } from '../../spec/policy/limits.ts';
import { PASS, reportedFields } from '../../spec/reported-fields.ts';
import type { Json, Mode, PeripheralSpec, ProjectConfig, ScopeRule, SpecSet } from '../../spec/types.ts';
import { type Fields, fieldsOf, textOf } from './json.ts';
import {
  addUpTo,
  copyObserved,
  isFileChange,
  nothingObserved,
  type Observed,
  observe,
  trustedReport,
} from './observations.ts';
import { copyRuns, noRuns, type TestRuns, testsPass } from './test-runs.ts';

/** The spec set and the configuration that a session is pinned to. */
export interface Pinned {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
}

/** One stay in a peripheral. */
export interface AuditedVisit {
  readonly peripheral: string;
  /** undefined if the spec set has no such peripheral. */
  readonly spec: PeripheralSpec | undefined;
  readonly scope: ScopeRule;
  deadline: number | null;
  readonly observed: Observed;
  /** The commit message that came along. */
  message: string | null;
  /** Commands in the background whose end is not recorded. */
  background: readonly string[];
  steps: number;
  denials: number;
  expired: boolean;
}

/** The moment before a visit's stop, by which the hop after it is judged. */
export interface Departure {
  readonly visit: AuditedVisit | null;
  /** The fruit of the visit that is left. */
  readonly fruit: Fields;
  readonly backpack: Fields;
  readonly successes: number;
}

/** A session as its evidence describes it. It grows with what the session touches, not with its entries. */
export interface AuditState {
  readonly pinned: Pinned;
  sessionId: string;
  agent: string;
  root: string;
  unsafeNoSandbox: boolean;
  /** It is the session of a sub-agent: what the session above may refuse is not on record here. */
  hasParent: boolean;
  opened: boolean;
  closed: boolean;
  /** `erased`: the body of an entry is gone, so counts and lists may lack something. */
  history: 'complete' | 'erased';
  /** Epoch milliseconds of the last entry. */
  lastAt: number;
  /** As `lastAt`, but a passed deadline does not count: how long the mode has been idle. */
  activeAt: number;
  /** null without a mode gate, and after an erased change of mode. */
  mode: Mode | null;
  visit: AuditedVisit | null;
  visits: { readonly [peripheral: string]: number };
  steps: number;
  denials: number;
  /** Successful steps since the last review. */
  successes: number;
  /** Successful steps before the review that was just recorded: the hop that it belongs to was decided by them. */
  successesBeforeReview: number | null;
  /** The step whose intent is recorded and whose outcome is not. */
  pending: { readonly tool: string; readonly args: Fields } | null;
  /** Set by a stop with an exit. The next entry must be its hop. */
  leaving: (Departure & { readonly exit: string; readonly reason: string; readonly by: string }) | null;
  /** Set by a hop. The next entry must be the start that it leads to. */
  arriving: { readonly hop: HopBody; readonly backpack: Fields } | null;
  /** The test runs of the present code; a change of the code begins a new list. */
  tests: TestRuns;
  /** The checks that passed for the present code. */
  checks: ReadonlySet<string>;
  /** The tree that the last test run was of; null if it did not say. */
  tested: string | null;
  /** The changed files with their last hash; null if a file is gone or its hash unknown. */
  readonly changes: { [path: string]: string | null };
  /** Findings that a person must see before the changes ship, by path or test command. */
  readonly findings: FindingsByPath;
  /** Files that the session's effects name: scope `read: session-log` grants these. */
  readonly files: Set<string>;
  patterns: { readonly [pattern: string]: 'selected' | 'held' | 'failed' };
  backpack: Fields;
  fruits: { readonly [peripheral: string]: Fields };
}

/** The state before the first entry. */
export const beginState = (pinned: Pinned, known: Partial<AuditState> = {}): AuditState => ({
  pinned,
  sessionId: '',
  agent: '',
  root: '/',
  unsafeNoSandbox: false,
  hasParent: false,
  opened: false,
  closed: false,
  history: 'complete',
  lastAt: 0,
  activeAt: 0,
  mode: pinned.specs.modeGate?.initial ?? null,
  visit: null,
  visits: {},
  steps: 0,
  denials: 0,
  successes: 0,
  successesBeforeReview: null,
  pending: null,
  leaving: null,
  arriving: null,
  tests: noRuns(),
  checks: new Set(),
  tested: null,
  changes: {},
  findings: {},
  files: new Set(),
  patterns: {},
  backpack: {},
  fruits: {},
  ...known,
});

/** A copy that {@link apply} may change: for a planner that asks what would come next. */
export const copyState = (state: AuditState): AuditState => ({
  ...state,
  visit: state.visit && { ...state.visit, observed: copyObserved(state.visit.observed) },
  tests: copyRuns(state.tests),
  changes: { ...state.changes },
  findings: { ...state.findings },
  files: new Set(state.files),
});

export const testsOf = ({ tests }: AuditState) => ({
  passed: testsPass(tests),
  count: tests.count,
  failed: tests.failed,
});

/** A peripheral that a spec set does not have grants nothing. */
const NO_SCOPE: ScopeRule = { read: 'none', write: [], command: 'none', url: 'none' };

/** The scope of the visit under way. */
export const scopeNow = ({ visit }: Pick<AuditState, 'visit'>): ScopeRule => visit?.scope ?? NO_SCOPE;

/** A peripheral's scope in this repository: where the spec grants writing at all, hopgate.yaml may name the places. */
function scopeOf(spec: PeripheralSpec | undefined, { scopes }: ProjectConfig): ScopeRule {
  if (!spec) return NO_SCOPE;
  const { rule } = spec.scope;
  const write = own(scopes, spec.id);
  return write && rule.write.length > 0 ? { ...rule, write } : rule;
}

/** The session's identity, and the growing list: a context or a fruit fills them only if they are empty. */
const LASTING = [...IDENTITY_FIELDS, 'changed-files'];

function packed(backpack: Fields, more: Fields): Fields {
  const lasting = Object.entries(backpack).filter(([field]) => LASTING.includes(field));
  return { ...backpack, ...more, ...Object.fromEntries(lasting) };
}

/** The fields of a fruit that have a value. */
export const filled = (fruit: Fields): Fields =>
  Object.fromEntries(Object.entries(fruit).filter(([, value]) => value !== null));

/** The part of an entry that changes a state. */
export type EntryChange = Pick<Entry, 'sessionId' | 'peripheral' | 'tags'>;

/**
 * The state after one more entry. It changes `state` itself, so that a log of any length needs little memory.
 *
 * @param body null if it cannot be read, `erased` if it is gone: then the head still says enough to follow the session
 * @param at epoch milliseconds
 */
export function apply(state: AuditState, entry: EntryChange, body: Body | 'erased' | null, at: number): void {
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
  if (event !== 'expired') state.activeAt = state.lastAt;
}

/** Takes the mode from the head of an entry after an erased change of mode. */
export function recallMode(state: AuditState, { mode }: Pick<Entry, 'mode'>): void {
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
      enter(state, body.peripheral, body.deadline);
      if (state.visit) state.visit.message = textOf(body.context['commit-message']);
      state.backpack = packed(state.backpack, body.context);
      return;
    case 'intent':
      state.pending = { tool: body.tool, args: body.args };
      return;
    case 'interrupted':
      // Nobody knows what the step did.
      state.pending = null;
      outdate(state);
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
      visit.observed.refusals += 1;
      return;
    case 'par':
      state.successesBeforeReview = state.successes;
      state.successes = 0;
      if (visit) visit.observed.par = { ...body.par };
      return;
    case 'stop': {
      const { exit, reason, by, fruit } = body;
      const { backpack, successesBeforeReview } = state;
      const successes = successesBeforeReview ?? state.successes;
      if (exit !== null && visit) state.leaving = { visit, fruit, backpack, successes, exit, reason, by };
      state.fruits = { ...state.fruits, [body.peripheral]: fruit };
      state.backpack = packed(backpack, filled(fruit));
      state.visit = null;
      return;
    }
    case 'hop':
      state.arriving = {
        hop: body,
        backpack: leaving ? { ...leaving.backpack, ...filled(leaving.fruit) } : state.backpack,
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

function enter(state: AuditState, peripheral: string, deadline: number | null): void {
  const { specs, config } = state.pinned;
  const spec = own(specs.peripherals, peripheral);
  const counts = { steps: 0, denials: 0, expired: false, background: [] };
  state.visit = {
    peripheral,
    spec,
    scope: scopeOf(spec, config),
    deadline,
    observed: nothingObserved(),
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
  state.steps += 1;
  if (outcome.status === 'ok') state.successes += 1;
  // A change of the code, or a chance of one, makes older test runs worthless.
  if (changes.length > 0 || (body.event === 'outcome' && body.effects === 'unobserved')) {
    outdate(state);
    const { changes: known, backpack } = state;
    const before = backpack['changed-files'];
    const fresh = changes.filter(({ path }) => !Object.hasOwn(known, path)).map(({ path }) => path);
    for (const { path, after } of changes) known[path] = after ?? null;
    if (fresh.length > 0 || before === undefined)
      state.backpack = { ...backpack, 'changed-files': joined(before, fresh) };
  }
  // Tests and checks may depend on a changed resource, or on files that git ignores.
  if (tool === 'install' || effects.some(({ op }) => op === 'resource')) outdate(state);
  for (const { op, path } of effects) if (!NOT_FILES.includes(op)) addUpTo(MAX_NAMED_FILES, state.files, path);
  const pattern = patternStatusAfter(tool, outcome);
  if (pattern) state.patterns = { ...state.patterns, [pattern.pattern]: pattern.standing };
  const isTested = outcome.status === 'ok' && visit && trustedReport(visit.scope, state.pinned.specs, tool) === 'test';
  countFindings(state.findings, body.effects, isTested ? outcome.result : undefined);
  if (!visit) return;
  if (visit.deadline !== null) visit.deadline += waitedMs(state.pinned.specs.tools, body);
  visit.steps += 1;
  visit.background = runningAfter(visit.background, body);
  if (isTested) {
    const tree = textOf(fieldsOf(fieldsOf(outcome.result)['tree'])['id']);
    // Somebody else has changed the code since the run before.
    if (tree !== state.tested) outdate(state);
    state.tested = tree;
  }
  countReported(state, body);
  observe(visit, state.pinned.specs, body, changes, state.tests);
}

/** Forgets the tests and checks of the code before a change. */
function outdate(state: AuditState): void {
  state.tests = noRuns();
  state.checks = new Set();
}

/** Session state goes to the backpack; a check counts from its last value. */
function countReported(state: AuditState, { observed = {}, state: kept = {} }: StepBody | OutcomeBody): void {
  if (Object.keys(kept).length > 0) state.backpack = { ...state.backpack, ...kept };
  const fields = Object.values(reportedFields(state.pinned.specs).checks).filter((each) =>
    Object.hasOwn(observed, each),
  );
  if (fields.length === 0) return;
  const passed = new Set(state.checks);
  for (const field of fields) {
    if (observed[field] === PASS) passed.add(field);
    else passed.delete(field);
  }
  state.checks = passed;
}

const joined = (list: Json | undefined, more: readonly string[]): Json => [
  ...new Set([...(Array.isArray(list) ? list : []), ...more]),
];

/** The names of events are tags of their entries, so they outlast an erased body. */
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
  if (has('start') && peripheral !== null) enter(state, peripheral, null);
  else if (visit && (has('step') || has('outcome') || has('interrupted'))) visit.steps += 1;
}
