import type { AuditedPin } from '../audit/rules/audit-state.ts';
import { assertArgument } from '../base/assert-argument.ts';
import { isObject } from '../base/json.ts';
import type { ToolBackend } from '../ports/tool-backend.ts';
import type { Session } from '../session/session.ts';
import { assertSpecSet } from '../spec/assert-spec-set.ts';
import { assertStatedConfig } from '../spec/load/load-project-config.ts';
import { loadSpecs } from '../spec/load/load-specs.ts';
import { getOwn } from '../spec/names.ts';
import type { ProjectConfig, SpecSet } from '../spec/types.ts';
import { makeModelConfig } from './model/model-config.ts';
import { type RunCaseOptions, runCaseWithAgent, runCaseWithCrashes, runPlannedCase } from './model/run-case.ts';
import { type CoverageRow, SpecCoverage } from './plan/coverage.ts';
import { itemsCoveredByMoves, type PlannedCase } from './plan/planned-case.ts';
import { assertExclusions } from './plan/test-exclusions.ts';
import { planCases } from './plan-cases.ts';

export interface TestSpecsOptions {
  /** The config of the repository. Default: the config of a made-up repository. */
  readonly config?: Partial<ProjectConfig>;
  /** The id of the agent in the sessions, for spec sets whose `agents:` restricts entries. */
  readonly agent?: string;
  /**
   * Your own backends, for the tools that they serve; the other tools stay stubs. Your backends may refuse calls that
   * the gate allows, so such answers are not compared with the spec.
   */
  readonly backends?: readonly ToolBackend[];
  /** An agent under test. It is placed in every reachable peripheral; the evidence of its actions must conform. */
  readonly play?: (session: Session) => Promise<void>;
  /** Executes each route again on SQLite, with a crash and a resume in every call. Default: true for small sets. */
  readonly crashes?: boolean;
  /**
   * Reasons by item: an edge, start or mode transition (`edge deploy deployed reflect`) that cannot be provoked with
   * your backends, or the name of a test. No test's path contains such an item, and a skipped test shows the reason.
   * An unknown item is an error.
   *
   * @example { 'edge deploy deployed reflect': 'needs a host that nobody has here' }
   */
  readonly exclude?: { readonly [item: string]: string };
}

/** One generated test. A failed one throws an error whose message has the moves so far. */
export interface GeneratedTest {
  readonly group: PlannedCase['group'] | 'crashes' | 'agent' | 'excluded';
  readonly name: string;
  /** The moves of the test's path as data, and the requests at its end. */
  readonly planned: PlannedCase;
  /** The reason why the test is excluded; null if it is not. */
  readonly excluded: string | null;
  /** Throws if the session differs from the spec. */
  readonly run: () => Promise<void>;
}

/** The tests of a spec set, and the parts of the set that they cover. */
export interface GeneratedTests {
  readonly specs: SpecSet;
  readonly tests: readonly GeneratedTest[];
  readonly large: boolean;
  /** Returns the number of requests that were judged so far, and what they covered of the spec. */
  readonly coverage: () => { readonly requests: number; readonly rows: readonly CoverageRow[] };
}

/**
 * Generates the tests of a spec set. They try every edge, start and mode transition by a shortest route, every hop's
 * round trip and reframe, every rule that can refuse, and the limits of every visit. Peripherals that differ only in
 * their edges share the tests of their visits. For a large spec set, long walks take every edge. Each test runs a real
 * session with stub tools, and compares every answer with a second judgement of the spec that does not use the gate.
 * @param specs a spec set, or the path of one; `default` for the built-in one
 * @throws {@link SpecError} if the specs have problems; TypeError for a wrong argument
 * @example
 * const { tests, coverage } = await generateTests('specs');
 * for (const { run } of tests) await run();
 * console.log(coverage().rows);
 */
export async function generateTests(specs: SpecSet | string, options: TestSpecsOptions = {}): Promise<GeneratedTests> {
  const { pinned, run, coverage } = await prepareTestCaseRuns(specs, options);
  const { specs: loaded } = pinned;
  const exclude = options.exclude ?? {};
  const plan = planCases(pinned, run.agent, new Set(Object.keys(exclude)));
  const test = (planned: PlannedCase, more: Omit<GeneratedTest, 'planned' | 'excluded'>): GeneratedTest => ({
    planned,
    excluded: getOwn(exclude, more.name) ?? null,
    ...more,
  });
  const tests = plan.cases.map((planned) =>
    test(planned, { group: planned.group, name: planned.name, run: () => runPlannedCase(pinned, planned, run) }),
  );
  const crashed =
    (options.crashes ?? !plan.large)
      ? plan.cases.filter(({ group }) => group === 'hops' || group === 'round trips' || group === 'modes')
      : [];
  const crashes = crashed.map((planned, turn) =>
    test(planned, {
      group: 'crashes',
      name: `continues after a crash in every call: ${planned.name}`,
      run: () => runCaseWithCrashes(pinned, planned, run, turn),
    }),
  );
  const { play } = options;
  const played = play
    ? placesOf(plan.cases).map(([peripheral, planned]) =>
        test(planned, {
          group: 'agent',
          name: `the agent plays ${peripheral === OUTSIDE ? 'outside of any peripheral' : `in ${peripheral}`}`,
          run: () => runCaseWithAgent(pinned, planned, play, run),
        }),
      )
    : [];
  const generated = [...tests, ...crashes, ...played];
  const names = new Set(generated.map(({ name }) => name));
  assertExclusions(loaded, Object.keys(exclude), [...names]);
  const skipped = Object.entries(exclude).flatMap(([name, excluded]): GeneratedTest[] =>
    names.has(name)
      ? []
      : [{ group: 'excluded', name, planned: { group: 'hops', name, moves: [] }, excluded, run: async () => {} }],
  );
  const all = [...generated, ...skipped];
  const left = new Set(
    all.flatMap(({ excluded, planned }) => (excluded === null ? itemsCoveredByMoves(loaded, planned.moves) : [])),
  );
  const inAll = new Set(all.flatMap(({ planned }) => itemsCoveredByMoves(loaded, planned.moves)));
  const reachable = new Set([...plan.reachable].filter((item) => left.has(item) || !inAll.has(item)));
  return {
    specs: loaded,
    tests: all,
    large: plan.large,
    coverage: () => ({ requests: coverage.requests, rows: coverage.rows(reachable) }),
  };
}

/** The pin, the session options and the coverage that all cases of a spec set share. */
export interface CaseRunSetup {
  readonly pinned: AuditedPin;
  readonly run: RunCaseOptions;
  readonly coverage: SpecCoverage;
}

export async function prepareTestCaseRuns(
  specs: SpecSet | string,
  options: TestSpecsOptions = {},
): Promise<CaseRunSetup> {
  const loaded = typeof specs === 'string' ? await loadSpecs(specs) : specs;
  assertSpecSet(loaded, 'specs');
  assertArgument(isObject(options), 'options', 'an object', options);
  const coverage = new SpecCoverage(loaded);
  const run = {
    agent: options.agent ?? agentOf(loaded),
    provoked: new Map<string, Set<string>>(),
    idleStores: [],
    onMove: coverage.add,
    backends: options.backends,
  };
  return {
    pinned: { specs: loaded, config: { ...makeModelConfig(loaded), ...assertStatedConfig(options.config ?? {}) } },
    run,
    coverage,
  };
}

const OUTSIDE = 'outside';

/** The shortest moves to each peripheral, taken from the beginnings of hop cases and walks. */
function placesOf(cases: readonly PlannedCase[]): readonly (readonly [string, PlannedCase])[] {
  const shortest = new Map<string, PlannedCase>([[OUTSIDE, { group: 'hops', name: OUTSIDE, moves: [] }]]);
  for (const planned of cases.filter(({ group }) => group === 'hops' || group === 'walks'))
    for (const [index, { asked }] of planned.moves.entries()) {
      const peripheral = asked.kind === 'hop' ? asked.to : asked.kind === 'start' ? asked.peripheral : null;
      const known = peripheral === null ? undefined : shortest.get(peripheral);
      if (peripheral !== null && (!known || known.moves.length > index + 1))
        shortest.set(peripheral, { group: 'hops', name: peripheral, moves: planned.moves.slice(0, index + 1) });
    }
  return [...shortest];
}

/** An agent that every peripheral admits, if there is one. */
function agentOf({ peripherals }: SpecSet): string {
  const lists = Object.values(peripherals).flatMap(({ agents }) => (agents === null ? [] : [agents]));
  return lists[0]?.find((agent) => lists.every((list) => list.includes(agent))) ?? lists[0]?.[0] ?? 'tester';
}
