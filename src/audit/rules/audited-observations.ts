import { getOrInsert } from '../../base/get-or-insert.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../base/json.ts';
import type { EffectRecord, StepBody } from '../../evidence/bodies.ts';
import { patternStatusAfter } from '../../evidence/patterns/pattern-tools.ts';
import { getOwn } from '../../spec/names.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { FILE_CHANGE_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import { MAX_FRUIT_FILES } from '../../spec/policy/limits.ts';
import type { FruitObservation, Json, PeripheralSpec, ScopeRule, SpecSet } from '../../spec/types.ts';
import { addTestRun, allRunsPassed, copyTestRuns, noTestRuns, type TestRuns, testRunsOfStep } from './test-runs.ts';

export const isFileChange = ({ op }: EffectRecord): boolean => FILE_CHANGE_EFFECT_KINDS.includes(op);

/** True for a reflecting peripheral: its fruit holds a PAR. */
export function isReflectingPeripheral(spec: PeripheralSpec): boolean {
  return getOrInsert(reviewing, spec, () =>
    Object.values(spec.fruit).some((field) => field.kind === 'observed' && field.from === 'par'),
  );
}

const reviewing = new WeakMap<PeripheralSpec, boolean>();

/** The observations of a visit so far. It grows with the files and test commands, not with the steps. */
export interface AuditedVisitObservations {
  readonly read: Set<string>;
  readonly matched: Set<string>;
  readonly listed: Set<string>;
  readonly changed: Set<string>;
  readonly patterns: Set<string>;
  readonly runs: TestRuns;
  /** The commands whose last run had another verdict than an earlier run on the same code. */
  readonly flaky: Set<string>;
  committed: boolean;
  pushed: boolean;
  sha: string | null;
  deployed: boolean;
  steps: number;
  refusals: number;
  bells: number;
  whistles: number;
  par: Json;
  /** The last value of each field that a backend reported. */
  reported: Fields;
}

export const emptyObservations = (): AuditedVisitObservations => ({
  read: new Set(),
  matched: new Set(),
  listed: new Set(),
  changed: new Set(),
  patterns: new Set(),
  runs: noTestRuns(),
  flaky: new Set(),
  committed: false,
  pushed: false,
  sha: null,
  deployed: false,
  steps: 0,
  refusals: 0,
  bells: 0,
  whistles: 0,
  par: null,
  reported: {},
});

/** A copy to which steps can be added. */
export const copyObservations = (original: AuditedVisitObservations): AuditedVisitObservations => ({
  ...original,
  read: new Set(original.read),
  matched: new Set(original.matched),
  listed: new Set(original.listed),
  changed: new Set(original.changed),
  patterns: new Set(original.patterns),
  runs: copyTestRuns(original.runs),
  flaky: new Set(original.flaky),
});

/**
 * The trusted part of a command tool's report, by the peripheral's scope: test results in a test scope, commits and
 * deployments in a deploy scope. In other scopes a tool could invent either.
 */
export function trustedReportKind(scope: ScopeRule, { tools }: SpecSet, tool: string): 'test' | 'deploy' | null {
  const { command } = scope;
  if (command !== 'test' && command !== 'deploy') return null;
  return takesCommandArgument(getOwn(tools, tool)) ? command : null;
}

/** Adds a step's result to a visit's observations, and its test runs to `tests`, the runs of the present code. */
export function addStepObservations(
  { observations, scope }: { readonly observations: AuditedVisitObservations; readonly scope: ScopeRule },
  specs: SpecSet,
  { tool, outcome, observed: reported }: Pick<StepBody, 'tool' | 'outcome' | 'observed'>,
  effects: readonly EffectRecord[],
  changes: readonly EffectRecord[],
  tests: TestRuns,
): void {
  observations.steps += 1;
  for (const { path } of changes) add(observations.changed, path);
  if (reported) observations.reported = { ...observations.reported, ...reported };
  if (outcome.status !== 'ok') return;
  if (tool === 'bell') observations.bells += 1;
  if (tool === 'whistle') observations.whistles += 1;
  const result = fieldsOf(outcome.result);
  add(observations.patterns, patternStatusAfter(tool, outcome)?.pattern ?? null);
  const reads = effects.filter(({ op }) => op === 'read');
  for (const { path } of reads) add(observations.read, path);
  if (tool === 'read' && reads.length === 0) add(observations.read, textOf(result['path']));
  for (const path of pathsIn(result['matches'])) add(observations.matched, path);
  for (const path of pathsIn(result['files'])) add(observations.listed, path);
  const trusted = trustedReportKind(scope, specs, tool);
  for (const run of trusted === 'test' ? testRunsOfStep(result) : []) {
    addTestRun(observations.runs, run);
    if (addTestRun(tests, run)) observations.flaky.add(run.command);
    else observations.flaky.delete(run.command);
  }
  if (trusted !== 'deploy') return;
  if (result['committed'] === true || result['pushed'] === true)
    observations.sha = textOf(result['sha']) ?? observations.sha;
  observations.committed ||= result['committed'] === true;
  observations.pushed ||= result['pushed'] === true;
  observations.deployed ||= tool === 'bash-deploy' && result['exit'] === 0;
}

export function addWithinLimit(max: number, set: Set<string>, item: string | null): void {
  if (item !== null && set.size < max) set.add(item);
}

const add = (set: Set<string>, item: string | null): void => addWithinLimit(MAX_FRUIT_FILES, set, item);

/** The paths in a list of files or matches. If the list is stored as a blob, its paths are next to the reference. */
function pathsIn(list: Json | undefined): readonly string[] {
  if (list === undefined) return [];
  const items = Array.isArray(list) ? list : listOf(fieldsOf(list)['paths']);
  return items.flatMap((item) => textOf(item) ?? textOf(fieldsOf(item)['path']) ?? []);
}

export function observedValue(observations: AuditedVisitObservations, from: string): Json {
  const name = from as FruitObservation;
  const runs = [...observations.runs.commands.values()].map(({ last }) => last);
  switch (name) {
    case 'found': {
      const close = [...new Set([...observations.matched, ...observations.read])];
      return close.length > 0 ? close : [...observations.listed];
    }
    case 'changed-files':
      return [...observations.changed];
    case 'changes':
      return observations.changed.size;
    case 'result':
      if (observations.flaky.size > 0) return 'flaky';
      if (runs.some(({ verdict }) => verdict === 'fail')) return 'fail';
      return runs.some(({ verdict }) => verdict === 'pass') && allRunsPassed(observations.runs) ? 'pass' : null;
    case 'test-count':
      return runs.some(({ total }) => total === null) ? null : runs.reduce((sum, { total }) => sum + (total ?? 0), 0);
    case 'failures':
      return runs.flatMap(({ failures }) => [...failures]);
    case 'patterns':
      return [...observations.patterns];
    case 'committed':
    case 'pushed':
    case 'sha':
    case 'deployed':
    case 'steps':
    case 'refusals':
    case 'bells':
    case 'whistles':
    case 'par':
      return observations[name];
    default:
      name satisfies never;
      return getOwn(observations.reported, from) ?? null;
  }
}

/** The observed part of the fruit that a visit would yield if it ended now. */
export const computeObservedFruit = ({ fruit }: PeripheralSpec, observations: AuditedVisitObservations): Fields =>
  Object.fromEntries(
    Object.entries(fruit).flatMap(([field, rule]) =>
      rule.kind === 'observed' ? [[field, observedValue(observations, rule.from)]] : [],
    ),
  );
