import { memoise, valueOfLazy } from '../../base/lazy.ts';
import type { SpecTables } from '../../compile/spec-tables.ts';
import { describeTreeMismatch, type ObservedTree } from '../../gate/scope/compare-trees.ts';
import { isObserveOnly } from '../../gate/scope/observe-only.ts';
import type { SessionView, TestsView, VisitView } from '../../gate/session-view.ts';
import { CHECK_PASSED_VALUE } from '../../spec/reported-fields.ts';
import type { Fields, Mode, ModeGateSpec, ProjectConfig, SpecSet } from '../../spec/types.ts';
import { allTestCommandsPassed, observedFruitOf, testRunsDisagree } from './observations.ts';
import { isSessionClosed, type SessionFacts, type SessionState } from './session-state.ts';

type Specs = Pick<SpecTables, 'specs'>;

/**
 * The test results for the present code. They have passed if, since the last change, every command passed in a full
 * run, no two runs disagreed, and the observed tree is the tested one.
 */
function testsView({ runs, change, tested }: SessionFacts, tree: ObservedTree | undefined): TestsView {
  const current = runs.filter((run) => run.change === change);
  const full = current.filter(({ narrowed }) => !narrowed);
  const flaky = full.some(({ command }) => testRunsDisagree(runs, command, change));
  const passed = full.length > 0 && allTestCommandsPassed(current) && !flaky;
  const stale = passed && tree ? describeTreeMismatch(tested, tree) : null;
  return {
    passed: passed && stale === null,
    ...(stale === null ? {} : { stale }),
    count: current.length,
    failed: current.filter(({ verdict }) => verdict === 'fail').length,
  };
}

const passedChecks = ({ checks, change }: SessionFacts): readonly string[] =>
  Object.keys(checks).filter((field) => checks[field]?.value === CHECK_PASSED_VALUE && checks[field].change === change);

function visitView({ specs }: Specs, state: SessionState): VisitView | null {
  const { visit, runs } = state.facts;
  const spec = visit && specs.peripherals[visit.peripheral];
  if (!visit || !spec) return null;
  return {
    peripheral: visit.peripheral,
    status: (state.lifecycle ?? 'active') as VisitView['status'],
    steps: visit.steps,
    denials: visit.denials,
    deadline: visit.deadline,
    message: visit.message,
    // The observed fruit is computed when it is read, because most steps are decided without it.
    observedFruit: memoise(() => observedFruitOf(spec, visit.observations, runs)),
  };
}

/** The gate's view of a session, computed from its state and the working tree (if that was observed). Pure. */
export function sessionViewOf(compiled: Specs, state: SessionState, now: number, tree?: ObservedTree): SessionView {
  const { facts } = state;
  return {
    sessionId: facts.sessionId,
    agent: facts.agent,
    root: facts.root,
    now,
    closed: isSessionClosed(state),
    mode: state.mode,
    visit: visitView(compiled, state),
    visits: facts.visits,
    steps: facts.steps,
    denials: facts.denials,
    naturalClose: facts.successes > 0 && facts.pending === null,
    ...(facts.pending ? { pending: facts.pending.tool } : {}),
    tests: testsView(facts, tree),
    ...(tree ? { tree } : {}),
    ...(Object.keys(facts.checks).length > 0 ? { checks: passedChecks(facts) } : {}),
    patterns: facts.patterns,
    backpack: facts.backpack,
    fruits: facts.fruits,
    files: facts.files,
    changes: memoise(() => Object.fromEntries(facts.changes)),
    findings: facts.findings,
    usedNonces: facts.usedNonces,
    ...(facts.grants.length > 0 ? { grants: facts.grants, blind: facts.blind } : {}),
  };
}

/** Adds to a view the facts that no entry records: the tools that no backend serves, and revoked grants. */
export function addUnrecorded(
  view: SessionView,
  {
    unserved,
    config,
    revokedBy = () => null,
  }: {
    readonly unserved: ReadonlySet<string>;
    readonly config: ProjectConfig;
    readonly revokedBy?: (grant: string) => string | null;
  },
): SessionView {
  const grants = view.grants?.map((grant) => {
    const by = grant.ended === null ? revokedBy(grant.id) : null;
    return by === null ? grant : { ...grant, ended: `${by} revoked it` };
  });
  return {
    ...view,
    ...(grants ? { grants } : {}),
    ...(unserved.size > 0 ? { unserved } : {}),
    ...(isObserveOnly({ config }) ? { observeOnly: true } : {}),
  };
}

/** The view with a review that is not recorded yet among the observed fruit of the visit. */
export function viewWithReview({ peripherals }: SpecSet, view: SessionView, par: Fields): SessionView {
  const { visit } = view;
  const spec = visit && peripherals[visit.peripheral];
  if (!visit || !spec) return view;
  const observedFruit = { ...valueOfLazy(visit.observedFruit) };
  for (const [field, rule] of Object.entries(spec.fruit))
    if (rule.kind === 'observed' && rule.from === 'par') observedFruit[field] = par;
  return { ...view, visit: { ...visit, observedFruit } };
}

/** The view that the next call is judged by: the mode's timeout may be due, and the call records it first. */
export function viewOfNextCall({ specs }: Specs, { facts }: SessionState, view: SessionView): SessionView {
  if (facts.pending) return view;
  return { ...view, mode: modeAfterIdleTime(specs.modeGate, view.mode, view.now - facts.lastAt) };
}

/** The mode of a session after `idleMs` milliseconds without an entry. */
export function modeAfterIdleTime(modeGate: ModeGateSpec | null, mode: Mode | null, idleMs: number): Mode | null {
  const limit = modeGate?.timeoutMinutes ?? Infinity;
  return modeGate && mode !== null && idleMs >= limit * 60_000 ? modeGate.reset : mode;
}
