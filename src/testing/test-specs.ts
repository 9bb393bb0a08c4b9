import type { Pinned } from '../audit/rules/state.ts';
import type { ToolBackend } from '../ports/tool-backend.ts';
import type { Session } from '../session/session.ts';
import { loadSpecs } from '../spec/load/load-specs.ts';
import type { ProjectConfig, SpecSet } from '../spec/types.ts';
import { planCases } from './cases.ts';
import { trialConfig } from './model/model-config.ts';
import { runCase, runCaseWithAgent, runCaseWithDeaths } from './model/run-case.ts';
import { Coverage, type CoverageRow } from './plan/coverage.ts';
import type { PlannedCase } from './plan/planned-case.ts';

export interface TestSpecsOptions {
  /** The repository's config; a made-up repository by default. */
  readonly config?: Partial<ProjectConfig>;
  /** The id of the agent in the sessions, for spec sets whose `agents:` restricts entries. */
  readonly agent?: string;
  /**
   * Your own backends, for the tools that they serve; the other tools stay canned. They may refuse calls that the gate
   * allows. The expected results then depend on them.
   */
  readonly backends?: readonly ToolBackend[];
  /**
   * An agent under test: it is placed in every reachable peripheral and may act freely there. A refusal is not a
   * failure; the evidence of its actions must conform to the spec.
   */
  readonly play?: (session: Session) => Promise<void>;
  /** Executes each route again on SQLite, with a death and a resume in every call. Default: true for small sets. */
  readonly deaths?: boolean;
}

/** One generated test. */
export interface GeneratedTest {
  readonly group: PlannedCase['group'] | 'deaths' | 'agent';
  readonly name: string;
  /** Throws if the session differs from the spec. */
  readonly run: () => Promise<void>;
}

export interface GeneratedTests {
  readonly specs: SpecSet;
  readonly tests: readonly GeneratedTest[];
  readonly large: boolean;
  /** The number of requests judged so far, and their coverage. */
  readonly coverage: () => { readonly requests: number; readonly rows: readonly CoverageRow[] };
}

/**
 * Generates the tests of a spec set: every edge, start and mode transition by a shortest way, every hop's round trip
 * and reframe, every rule that can refuse, every visit's limits; for large spec sets long walks over every edge. Each
 * runs a real session, with canned tools, and compares its every answer with the spec (a second judgement that does not
 * use the gate).
 *
 * @param specs a spec set, or the path of one (`default`: the shipped one)
 */
export async function generateTests(specs: SpecSet | string, options: TestSpecsOptions = {}): Promise<GeneratedTests> {
  const loaded = typeof specs === 'string' ? await loadSpecs(specs) : specs;
  const pinned: Pinned = { specs: loaded, config: { ...trialConfig(loaded), ...options.config } };
  const agent = options.agent ?? agentOf(loaded);
  const plan = planCases(pinned, agent);
  const coverage = new Coverage(loaded);
  const run = {
    agent,
    provoked: new Set<string>(),
    onTaken: coverage.add,
    ...(options.backends ? { backends: options.backends } : {}),
  };
  const tests = plan.cases.map(
    (planned): GeneratedTest => ({
      group: planned.group,
      name: planned.name,
      run: () => runCase(pinned, planned, run),
    }),
  );
  const deadly =
    (options.deaths ?? !plan.large)
      ? plan.cases.filter(({ group }) => group === 'hops' || group === 'round trips' || group === 'modes')
      : [];
  const deaths = deadly.map(
    (planned, turn): GeneratedTest => ({
      group: 'deaths',
      name: `killed in every call: ${planned.name}`,
      run: () => runCaseWithDeaths(pinned, planned, run, turn),
    }),
  );
  const { play } = options;
  const played = play
    ? placesOf(plan.cases).map(
        ([place, planned]): GeneratedTest => ({
          group: 'agent',
          name: `the agent plays ${place === OUTSIDE ? 'outside of any peripheral' : `in ${place}`}`,
          run: () => runCaseWithAgent(pinned, planned, play, run),
        }),
      )
    : [];
  return {
    specs: loaded,
    tests: [...tests, ...deaths, ...played],
    large: plan.large,
    coverage: () => ({ requests: coverage.requests, rows: coverage.rows(plan.reachable) }),
  };
}

const OUTSIDE = 'outside';

/** A route to each reachable place: the shortest that ends there, otherwise the beginning of a walk that passes it. */
function placesOf(cases: readonly PlannedCase[]): readonly (readonly [string, PlannedCase])[] {
  const ways = new Map<string, PlannedCase>([[OUTSIDE, { group: 'hops', name: OUTSIDE, moves: [] }]]);
  for (const planned of cases.filter(({ group }) => group === 'hops' || group === 'walks'))
    for (const [index, { asked }] of planned.moves.entries()) {
      const place = asked.kind === 'hop' ? asked.to : asked.kind === 'start' ? asked.peripheral : null;
      const known = place === null ? undefined : ways.get(place);
      if (place !== null && (!known || known.moves.length > index + 1))
        ways.set(place, { group: 'hops', name: place, moves: planned.moves.slice(0, index + 1) });
    }
  return [...ways];
}

/** An agent that every peripheral admits, if there is one. */
function agentOf({ peripherals }: SpecSet): string {
  const lists = Object.values(peripherals).flatMap(({ agents }) => (agents === null ? [] : [agents]));
  return lists[0]?.find((agent) => lists.every((list) => list.includes(agent))) ?? lists[0]?.[0] ?? 'tester';
}
