import type { EffectRecord, OutcomeRecord } from '../../evidence/bodies.ts';
import { standingAfter } from '../../evidence/discipline.ts';
import { own } from '../../spec/names.ts';
import { FILE_CHANGES } from '../../spec/policy/closed-lists.ts';
import { MAX_FRUIT_FILES } from '../../spec/policy/limits.ts';
import type { Json, Observation, PeripheralSpec, SpecSet } from '../../spec/types.ts';
import { type Fields, fieldsOf, listOf, textOf } from './json.ts';
import { addRun, allPassed, copyRuns, noRuns, type TestRuns, testRunsIn } from './test-runs.ts';

export const isFileChange = ({ op }: EffectRecord): boolean => FILE_CHANGES.includes(op);

/** The peripheral reviews the session: its fruit holds a PAR. */
export const looksBack = ({ fruit }: PeripheralSpec): boolean =>
  Object.values(fruit).some((field) => field.kind === 'observed' && field.from === 'par');

/** What a visit has shown so far, counted from its entries. It grows with the files and test commands it meets, not with its steps. */
export interface Observed {
  readonly read: Set<string>;
  readonly matched: Set<string>;
  readonly listed: Set<string>;
  readonly changed: Set<string>;
  readonly patterns: Set<string>;
  readonly runs: TestRuns;
  /** The commands whose last run disagreed with another one on the same code. */
  readonly flaky: Set<string>;
  committed: boolean;
  pushed: boolean;
  sha: string | null;
  deployed: boolean;
  steps: number;
  refusals: number;
  par: Json;
}

export const nothingObserved = (): Observed => ({
  read: new Set(),
  matched: new Set(),
  listed: new Set(),
  changed: new Set(),
  patterns: new Set(),
  runs: noRuns(),
  flaky: new Set(),
  committed: false,
  pushed: false,
  sha: null,
  deployed: false,
  steps: 0,
  refusals: 0,
  par: null,
});

export const copyObserved = (observed: Observed): Observed => ({
  ...observed,
  read: new Set(observed.read),
  matched: new Set(observed.matched),
  listed: new Set(observed.listed),
  changed: new Set(observed.changed),
  patterns: new Set(observed.patterns),
  runs: copyRuns(observed.runs),
  flaky: new Set(observed.flaky),
});

/**
 * The part of a command tool's report that is believed, by the scope of the peripheral: test results where the scope runs tests, commits and
 * deployments where it deploys. Elsewhere a tool could claim either.
 */
export function trustedReport(
  { peripherals, tools }: SpecSet,
  peripheral: string,
  tool: string,
): 'test' | 'deploy' | null {
  const command = own(peripherals, peripheral)?.scope.rule.command;
  const runsCommands = own(tools, tool)?.parameters.some(({ role }) => role === 'command');
  return runsCommands && (command === 'test' || command === 'deploy') ? command : null;
}

/** Counts a step's result. `tests` are those of the code after the step's own changes. */
export function observe(
  { observed, peripheral }: { readonly observed: Observed; readonly peripheral: string },
  specs: SpecSet,
  { tool, outcome }: { readonly tool: string; readonly outcome: OutcomeRecord },
  changed: readonly string[],
  tests: TestRuns,
): void {
  observed.steps += 1;
  addUpTo(MAX_FRUIT_FILES, observed.changed, changed);
  if (outcome.status !== 'ok') return;
  const result = fieldsOf(outcome.result);
  const pattern = standingAfter(tool, outcome)?.pattern;
  if (pattern !== undefined) addUpTo(MAX_FRUIT_FILES, observed.patterns, [pattern]);
  const path = tool === 'read' ? textOf(result['path']) : null;
  if (path !== null) addUpTo(MAX_FRUIT_FILES, observed.read, [path]);
  addUpTo(MAX_FRUIT_FILES, observed.matched, pathsIn(result['matches']));
  addUpTo(MAX_FRUIT_FILES, observed.listed, pathsIn(result['files']));
  const trusted = trustedReport(specs, peripheral, tool);
  for (const run of trusted === 'test' ? testRunsIn(result) : []) {
    addRun(observed.runs, run);
    if (addRun(tests, run)) observed.flaky.add(run.command);
    else observed.flaky.delete(run.command);
  }
  if (trusted !== 'deploy') return;
  if (result['committed'] === true || result['pushed'] === true) observed.sha = textOf(result['sha']) ?? observed.sha;
  observed.committed ||= result['committed'] === true;
  observed.pushed ||= result['pushed'] === true;
  observed.deployed ||= tool === 'bash-deploy' && result['exit'] === 0;
}

export function addUpTo(max: number, set: Set<string>, more: Iterable<string>): void {
  for (const item of more) if (set.size < max) set.add(item);
}

/** The paths in a list of files or matches. A list that is stored apart has its paths next to the reference. */
function pathsIn(list: Json | undefined): readonly string[] {
  const items = Array.isArray(list) ? list : listOf(fieldsOf(list)['paths']);
  return items.flatMap((item) => textOf(item) ?? textOf(fieldsOf(item)['path']) ?? []);
}

/** The value of one observation now. */
export function observation(observed: Observed, name: Observation): Json {
  const runs = [...observed.runs.commands.values()].map(({ last }) => last);
  switch (name) {
    case 'found': {
      const close = [...new Set([...observed.matched, ...observed.read])];
      return close.length > 0 ? close : [...observed.listed];
    }
    case 'changed-files':
      return [...observed.changed];
    case 'changes':
      return observed.changed.size;
    case 'result':
      if (observed.flaky.size > 0) return 'flaky';
      if (runs.some(({ verdict }) => verdict === 'fail')) return 'fail';
      return runs.some(({ verdict }) => verdict === 'pass') && allPassed(observed.runs) ? 'pass' : null;
    case 'test-count':
      return runs.some(({ total }) => total === null) ? null : runs.reduce((sum, { total }) => sum + (total ?? 0), 0);
    case 'failures':
      return runs.flatMap(({ failures }) => [...failures]);
    case 'patterns':
      return [...observed.patterns];
    case 'committed':
    case 'pushed':
    case 'sha':
    case 'deployed':
    case 'steps':
    case 'refusals':
    case 'par':
      return observed[name];
    default:
      return name satisfies never;
  }
}

/** The observed part of the fruit that a visit would yield if it ended now. */
export const observedFruit = ({ fruit }: PeripheralSpec, observed: Observed): Fields =>
  Object.fromEntries(
    Object.entries(fruit).flatMap(([field, rule]) =>
      rule.kind === 'observed' ? [[field, observation(observed, rule.from)]] : [],
    ),
  );
