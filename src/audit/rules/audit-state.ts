import type { Fields } from '../../base/json.ts';
import type { HopBody } from '../../evidence/bodies.ts';
import type { FindingsByPath } from '../../evidence/findings/findings.ts';
import { getOwn } from '../../spec/names.ts';
import type { Mode, PeripheralSpec, ProjectConfig, ScopeRule, SpecSet } from '../../spec/types.ts';
import { type AuditedVisitObservations, copyObservations } from './audited-observations.ts';
import { copyTestRuns, doTestsPass, noTestRuns, type TestRuns } from './test-runs.ts';

/** The spec set and the configuration that a session is pinned to. */
export interface AuditedPin {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
}

export interface AuditedVisit {
  readonly peripheral: string;
  /** undefined if the spec set has no such peripheral. */
  readonly spec: PeripheralSpec | undefined;
  readonly scope: ScopeRule;
  deadline: number | null;
  readonly observations: AuditedVisitObservations;
  /** The commit message in the context of the visit. */
  message: string | null;
  /** Background commands whose end is not recorded. */
  background: readonly string[];
  steps: number;
  denials: number;
  expired: boolean;
}

/** The state before a visit's stop, by which the following hop is judged. */
export interface StateBeforeStop {
  readonly visit: AuditedVisit | null;
  /** The fruit of the visit that is left. */
  readonly fruit: Fields;
  readonly backpack: Fields;
  readonly successes: number;
}

/** A session as its evidence describes it. Its size does not depend on the number of entries. */
export interface AuditState {
  readonly pinned: AuditedPin;
  sessionId: string;
  agent: string;
  root: string;
  unsafeNoSandbox: boolean;
  /** True for a sub-agent's session. This session's evidence does not record the refusals by its parent's session. */
  hasParent: boolean;
  opened: boolean;
  closed: boolean;
  /** `erased` if the body of an entry was erased, so that counts and lists may be incomplete. */
  history: 'complete' | 'erased';
  /** Epoch milliseconds of the last entry. */
  lastAt: number;
  /** Epoch milliseconds of the last entry that is not a passed deadline; the mode is idle since then. */
  activeAt: number;
  /** null without a mode gate, and after an erased change of mode. */
  mode: Mode | null;
  visit: AuditedVisit | null;
  visits: { readonly [peripheral: string]: number };
  steps: number;
  denials: number;
  /** Successful steps since the last review. */
  successes: number;
  /** Successful steps before a review; set only between the review and its hop, which was decided by this number. */
  successesBeforeReview: number | null;
  /** The step whose intent is recorded and whose outcome is not. */
  pending: { readonly tool: string; readonly args: Fields } | null;
  /** Set by a stop with an exit. The next entry must be its hop. */
  leaving: (StateBeforeStop & { readonly exit: string; readonly reason: string; readonly by: string }) | null;
  /** The hop whose `start` entry must come next; null otherwise. */
  arriving: { readonly hop: HopBody; readonly backpack: Fields } | null;
  /** The test runs of the present code; a change of the code begins a new list. */
  tests: TestRuns;
  /** The checks that passed for the present code. */
  checks: ReadonlySet<string>;
  /** The tree that the last test run tested; null if the run did not name it. */
  tested: string | null;
  /** The changed files with their last hash; null if a file is gone or its hash unknown. */
  readonly changes: { [path: string]: string | null };
  /** Findings that a person must see before the changes ship, by path or test command. */
  readonly findings: FindingsByPath;
  /** Files named by the session's effects; the scope `read: session-log` grants them. */
  readonly files: Set<string>;
  patterns: { readonly [pattern: string]: 'selected' | 'held' | 'failed' };
  backpack: Fields;
  fruits: { readonly [peripheral: string]: Fields };
}

export const initialAuditState = (pinned: AuditedPin, known: Partial<AuditState> = {}): AuditState => ({
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
  tests: noTestRuns(),
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

/** A copy that {@link applyToAuditState} may change without changing the original. */
export const copyAuditState = (state: AuditState): AuditState => ({
  ...state,
  visit: state.visit && { ...state.visit, observations: copyObservations(state.visit.observations) },
  tests: copyTestRuns(state.tests),
  changes: { ...state.changes },
  findings: { ...state.findings },
  files: new Set(state.files),
});

export const testFactsOf = ({ tests }: AuditState) => ({
  passed: doTestsPass(tests),
  count: tests.count,
  failed: tests.failed,
});

/** A peripheral that a spec set does not have grants nothing. */
const NO_SCOPE: ScopeRule = { read: 'none', write: [], command: 'none', url: 'none' };

export const visitScope = ({ visit }: Pick<AuditState, 'visit'>): ScopeRule => visit?.scope ?? NO_SCOPE;

/** A peripheral's scope in this repository: if the spec grants writing, hopgate.yaml may name the paths. */
export function peripheralScope(spec: PeripheralSpec | undefined, { scopes }: ProjectConfig): ScopeRule {
  if (!spec) return NO_SCOPE;
  const rule: ScopeRule = spec.agencies ? { ...spec.scope.rule, agency: spec.agencies } : spec.scope.rule;
  const write = getOwn(scopes, spec.id);
  return write && rule.write.length > 0 ? { ...rule, write } : rule;
}
