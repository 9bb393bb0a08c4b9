import type { Pinned } from '../audit/ledger.ts';
import type { ToolBackend } from '../ports/tool-backend.ts';
import { loadSpecs } from '../spec/load-specs.ts';
import type { ProjectConfig, SpecSet } from '../spec/types.ts';
import { type PlannedCase, planCases } from './cases.ts';
import { Coverage, type CoverageRow } from './coverage.ts';
import { runCase, runCaseWithDeaths } from './run-case.ts';
import { TRIAL_CONFIG } from './trial-config.ts';

export interface TestSpecsOptions {
  /** How the repository is tested and shipped; a made-up repository unless given. */
  readonly config?: Partial<ProjectConfig>;
  /** The id of the agent in whose name the sessions run, where `agents:` restricts who may enter. */
  readonly agent?: string;
  /** Backends of your own in place of canned tools. What the routes expect of results then depends on them. */
  readonly backends?: readonly ToolBackend[];
  /** Execute each way once more on SQLite, with a death of the writer and a resume in every call. Default: true for small spec sets. */
  readonly deaths?: boolean;
}

/** One generated test. */
export interface GeneratedTest {
  readonly group: PlannedCase['group'] | 'deaths';
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
  const pinned: Pinned = { specs: loaded, config: { ...TRIAL_CONFIG, ...options.config } };
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
  return {
    specs: loaded,
    tests: [...tests, ...deaths],
    large: plan.large,
    coverage: () => ({ requests: coverage.requests, rows: coverage.rows(plan.reachable) }),
  };
}

/** An agent that every peripheral admits, if there is one. */
function agentOf({ peripherals }: SpecSet): string {
  const lists = Object.values(peripherals).flatMap(({ agents }) => (agents === null ? [] : [agents]));
  return lists[0]?.find((agent) => lists.every((list) => list.includes(agent))) ?? lists[0]?.[0] ?? 'tester';
}
