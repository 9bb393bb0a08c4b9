import type { Pinned } from '../audit/rules/state.ts';
import type { ToolBackend } from '../ports/tool-backend.ts';
import type { Session } from '../session/session.ts';
import { loadSpecs } from '../spec/load/load-specs.ts';
import type { ProjectConfig, SpecSet } from '../spec/types.ts';
import { planCases } from './cases.ts';
import { Coverage, type CoverageRow } from './plan/coverage.ts';
import type { PlannedCase } from './plan/planned-case.ts';
import { runCase, runCaseWithAgent, runCaseWithDeaths } from './model/run-case.ts';
import { trialConfig } from './model/model-config.ts';

export interface TestSpecsOptions {
  /** How the repository is tested and shipped; a made-up repository unless given. */
  readonly config?: Partial<ProjectConfig>;
  /** The id of the agent in whose name the sessions run, where `agents:` restricts who may enter. */
  readonly agent?: string;
  /**
   * Backends of your own in place of canned tools, for the tools that they serve; the others stay canned. They may refuse what the gate lets
   * through. What the routes expect of results then depends on them.
   */
  readonly backends?: readonly ToolBackend[];
  /**
   * An agent under test: it is put into every place that can be reached and may do there as it likes. A refusal is no failure; what it did has
   * to be within the spec by the evidence.
   */
  readonly play?: (session: Session) => Promise<void>;
  /** Execute each way once more on SQLite, with a death of the writer and a resume in every call. Default: true for small spec sets. */
  readonly deaths?: boolean;
}

/** One generated test. */
export interface GeneratedTest {
  readonly group: PlannedCase['group'] | 'deaths' | 'agent';
  readonly name: string;
  /** Throws where the session does not do what the spec says. */
  readonly run: () => Promise<void>;
}

export interface GeneratedTests {
  readonly specs: SpecSet;
  readonly tests: readonly GeneratedTest[];
  readonly large: boolean;
  /** How many requests were judged so far, and what they covered. */
  readonly coverage: () => { readonly requests: number; readonly rows: readonly CoverageRow[] };
}

/**
 * Generates the tests of a spec set: every edge, start and mode transition by a shortest way, every hop's round trip and reframe, every rule
 * that can refuse, every visit's limits; for large spec sets long walks over every edge. Each runs a real session, with canned tools, and
 * compares its every answer with what the spec says (a second judgement; nothing of the gate).
 *
 * @param specs a spec set, or where one lies (`default`: the shipped one)
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

/** A way to each place that can be reached: the shortest of those that end there, else the beginning of a walk that comes by. */
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
