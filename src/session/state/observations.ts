import { fieldsOf, listOf, setOwnField, textOf } from '../../base/json.ts';
import type { EffectRecord, OutcomeRecord } from '../../evidence/bodies.ts';
import { patternStatusAfter } from '../../evidence/patterns/pattern-tools.ts';
import { getOwn } from '../../spec/names.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { FILE_CHANGE_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import { MAX_FRUIT_FILES } from '../../spec/policy/limits.ts';
import type { Fields, FruitObservation, Json, PeripheralSpec, SpecSet } from '../../spec/types.ts';

export interface TestRun {
  readonly command: string;
  /** True if arguments selected only some tests: a pass does not prove that all tests pass. */
  readonly narrowed: boolean;
  /** `error` if the run shows neither a pass nor a failure. */
  readonly verdict: 'pass' | 'fail' | 'error';
  /** The other configured test commands that must also pass; empty if there is only one. */
  readonly others: readonly string[];
  /** The number of tests; null if the report does not state it. */
  readonly total: number | null;
  readonly failures: readonly Json[];
  /** The number of changes in this session at the time of the run: equal numbers mean the same code. */
  readonly change: number;
}

/** The observations of one visit so far: the basis of its observed fruit. */
export interface VisitObservations {
  readonly read: readonly string[];
  readonly matched: readonly string[];
  readonly listed: readonly string[];
  readonly changedFiles: readonly string[];
  readonly runs: readonly TestRun[];
  readonly committed: boolean;
  readonly pushed: boolean;
  readonly sha: string | null;
  readonly deployed: boolean;
  readonly steps: number;
  readonly refusals: number;
  /** Successful calls of the tools `bell` and `whistle`. */
  readonly bells: number;
  readonly whistles: number;
  readonly patterns: readonly string[];
  readonly par: Json;
  /** The last value of each field that a backend reported. */
  readonly reported: Fields;
}

export const NO_OBSERVATIONS: VisitObservations = {
  read: [],
  matched: [],
  listed: [],
  changedFiles: [],
  runs: [],
  committed: false,
  pushed: false,
  sha: null,
  deployed: false,
  steps: 0,
  refusals: 0,
  bells: 0,
  whistles: 0,
  patterns: [],
  par: null,
  reported: {},
};

/** The paths of the files that the effects created, changed or deleted. */
export const changedPathsIn = (effects: readonly EffectRecord[] | 'unobserved'): readonly string[] =>
  effects === 'unobserved'
    ? []
    : effects.filter(({ op }) => FILE_CHANGE_EFFECT_KINDS.includes(op)).map(({ path }) => path);

const readPathsIn = (effects: readonly EffectRecord[] | 'unobserved'): readonly string[] =>
  effects === 'unobserved' ? [] : effects.filter(({ op }) => op === 'read').map(({ path }) => path);

/**
 * The trusted part of a command's report: test runs in a test scope, deploys in a deploy scope; null if no part is
 * trusted.
 */
type TrustedReport = 'test' | 'deploy' | null;

export function trustedCommandKind(specs: SpecSet, peripheral: string | undefined, tool: string): TrustedReport {
  const command = peripheral === undefined ? undefined : specs.peripherals[peripheral]?.scope.rule.command;
  return takesCommandArgument(specs.tools[tool]) && (command === 'test' || command === 'deploy') ? command : null;
}

/** Adds a step to the observations of its visit. */
export function addStepToObservations(
  before: VisitObservations,
  step: {
    readonly tool: string;
    readonly outcome: OutcomeRecord;
    readonly effects: readonly EffectRecord[] | 'unobserved';
    readonly observed?: Fields;
  },
  change: number,
  trusted: TrustedReport,
): VisitObservations {
  const seen = {
    ...before,
    steps: before.steps + 1,
    changedFiles: mergeFileLists(before.changedFiles, changedPathsIn(step.effects), MAX_FRUIT_FILES),
    reported: step.observed ? { ...before.reported, ...step.observed } : before.reported,
  };
  if (step.outcome.status !== 'ok') return seen;
  const result = fieldsOf(step.outcome.result);
  const seenRead = readPathsIn(step.effects);
  const read = seenRead.length === 0 && step.tool === 'read' ? [textOf(result['path']) ?? []].flat() : seenRead;
  const runs = trusted === 'test' ? readTestRuns(result, change) : [];
  const committed = trusted === 'deploy' && result['committed'] === true;
  const pushed = trusted === 'deploy' && result['pushed'] === true;
  return {
    ...seen,
    bells: seen.bells + (step.tool === 'bell' ? 1 : 0),
    whistles: seen.whistles + (step.tool === 'whistle' ? 1 : 0),
    read: mergeFileLists(seen.read, read, MAX_FRUIT_FILES),
    matched: mergeFileLists(seen.matched, pathsInToolResult(result['matches']), MAX_FRUIT_FILES),
    listed: mergeFileLists(seen.listed, pathsInToolResult(result['files']), MAX_FRUIT_FILES),
    runs: [...seen.runs, ...runs],
    committed: seen.committed || committed,
    pushed: seen.pushed || pushed,
    sha: (committed || pushed ? textOf(result['sha']) : null) ?? seen.sha,
    patterns: mergeFileLists(seen.patterns, patternOf(step.tool, step.outcome), MAX_FRUIT_FILES),
    deployed: seen.deployed || (trusted === 'deploy' && step.tool === 'bash-deploy' && result['exit'] === 0),
  };
}

const patternOf = (tool: string, outcome: OutcomeRecord): readonly string[] => {
  const after = patternStatusAfter(tool, outcome);
  return after ? [after.pattern] : [];
};

/** Adds files to a list, each once, up to `max` files; returns the same list if none is new. */
export function mergeFileLists(files: readonly string[], more: readonly string[], max: number): readonly string[] {
  if (more.length === 0 || files.length >= max) return files;
  if (more.length === 1 && files.includes(more[0]!)) return files;
  const present = new Set(files);
  const added = [...new Set(more)].filter((file) => !present.has(file));
  return added.length === 0 ? files : [...files, ...added.slice(0, max - files.length)];
}

/**
 * The paths in a list of files or matches. If the list is stored as a blob, the reference to the blob has the paths.
 */
export function pathsInToolResult(list: Json | undefined): readonly string[] {
  const items = Array.isArray(list) ? list : listOf(fieldsOf(list)['paths']);
  return items.flatMap((item) => textOf(item) ?? textOf(fieldsOf(item)['path']) ?? []);
}

/** The test runs that a backend reported. The text of their output is not interpreted. */
export function readTestRuns(result: Fields, change: number): readonly TestRun[] {
  const { verdict, runs } = result;
  if (Array.isArray(runs)) return runs.flatMap((run) => readTestRuns(fieldsOf(run), change));
  if (verdict !== 'pass' && verdict !== 'fail' && verdict !== 'error') return [];
  const report = fieldsOf(result['report']);
  const { total, failures } = report;
  const run: TestRun = {
    command: listOf(result['command']).join(' '),
    narrowed: result['narrowed'] === true,
    verdict,
    others: listOf(result['others']).map(String),
    total: typeof total === 'number' ? total : null,
    // A list that was too large for the entry was replaced by a blob reference.
    failures: failures !== undefined && 'blob' in fieldsOf(failures) ? [failures] : listOf(failures),
    change,
  };
  return [run];
}

const latestByCommand = (runs: readonly TestRun[]): readonly TestRun[] => [
  ...new Map(runs.map((run) => [run.command, run])).values(),
];

/** True if two runs of one test command on the same code have different results. */
export function testRunsDisagree(runs: readonly TestRun[], command: string, change: number): boolean {
  const verdicts = new Set(
    runs.filter((run) => run.command === command && run.change === change).map(({ verdict }) => verdict),
  );
  return verdicts.has('pass') && verdicts.has('fail');
}

/** True if every required command passed in full in its last run. */
export function allTestCommandsPassed(runs: readonly TestRun[]): boolean {
  const fullRuns = latestByCommand(runs.filter(({ narrowed }) => !narrowed));
  const passed = new Set(fullRuns.filter(({ verdict }) => verdict === 'pass').map(({ command }) => command));
  return passed.size === fullRuns.length && runs.every(({ others }) => others.every((command) => passed.has(command)));
}

/** The result of a visit's test runs: pass, fail, or flaky if two runs of one code disagree; null if none counts. */
function testResult(visit: VisitObservations, sessionRuns: readonly TestRun[]): Json {
  const latest = latestByCommand(visit.runs);
  if (latest.some((run) => testRunsDisagree(sessionRuns, run.command, run.change))) return 'flaky';
  if (latest.some(({ verdict }) => verdict === 'fail')) return 'fail';
  return latest.some(({ verdict }) => verdict === 'pass') && allTestCommandsPassed(visit.runs) ? 'pass' : null;
}

function testCount(runs: readonly TestRun[]): Json {
  const latest = latestByCommand(runs);
  if (latest.some(({ total }) => total === null)) return null;
  return latest.reduce((sum, { total }) => sum + (total ?? 0), 0);
}

/** The files that were read or matched; if there are none, the files that were listed. */
const foundFiles = ({ read, matched, listed }: VisitObservations): string[] => {
  const close = [...new Set([...matched, ...read])];
  return close.length > 0 ? close : [...listed];
};

function observation(from: string, visit: VisitObservations, sessionRuns: readonly TestRun[]): Json {
  const name = from as FruitObservation;
  switch (name) {
    case 'found':
      return foundFiles(visit);
    case 'changed-files':
      return [...visit.changedFiles];
    case 'changes':
      return visit.changedFiles.length;
    case 'result':
      return testResult(visit, sessionRuns);
    case 'test-count':
      return testCount(visit.runs);
    case 'failures':
      return latestByCommand(visit.runs).flatMap(({ failures }) => failures) as Json[];
    case 'patterns':
      return [...visit.patterns];
    case 'committed':
    case 'pushed':
    case 'sha':
    case 'deployed':
    case 'steps':
    case 'refusals':
    case 'bells':
    case 'whistles':
    case 'par':
      return visit[name];
    default:
      name satisfies never;
      return getOwn(visit.reported, from) ?? null;
  }
}

export function observedFruitOf(
  spec: PeripheralSpec,
  visit: VisitObservations,
  sessionRuns: readonly TestRun[],
): Fields {
  const fruit: { [field: string]: Json } = {};
  for (const [field, rule] of Object.entries(spec.fruit))
    if (rule.kind === 'observed') setOwnField(fruit, field, observation(rule.from, visit, sessionRuns));
  return fruit;
}
