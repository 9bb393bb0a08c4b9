import { type Fields, fieldsOf, listOf } from '../../base/json.ts';
import { isBlobReference } from '../../evidence/blob-values.ts';
import type { Json, ProjectConfig } from '../../spec/types.ts';
import { fullTestCommandWords, matchTestCommand } from './commands/audited-command.ts';
import { readCommandWords } from './commands/audited-words.ts';
import { isSameJson, shortJson } from './compare-json.ts';

/** One run of a test command, as its tool reports it. */
interface AuditedRun {
  readonly command: string;
  /** The arguments chose a part of the tests: such a run can fail, but its pass proves nothing. */
  readonly narrowed: boolean;
  readonly verdict: 'pass' | 'fail' | 'error';
  /** The configured test commands that this run did not include, and that must pass as well. */
  readonly others: readonly string[];
  /** null if the report does not count tests. */
  readonly total: number | null;
  readonly failures: readonly Json[];
}

/** The runs of one step, which may have run several commands. */
export function testRunsOfStep(result: Fields): readonly AuditedRun[] {
  const { verdict, command, narrowed, runs, others } = result;
  if (Array.isArray(runs)) return runs.flatMap((run) => testRunsOfStep(fieldsOf(run)));
  if (verdict !== 'pass' && verdict !== 'fail' && verdict !== 'error') return [];
  const { total, failures } = fieldsOf(result['report']);
  const run: AuditedRun = {
    command: listOf(command).join(' '),
    narrowed: narrowed === true,
    verdict,
    others: listOf(others).map(String),
    total: typeof total === 'number' ? total : null,
    // A long list of failures is stored as a blob; the fruit holds the reference.
    failures: fieldsOf(failures)['blob'] === undefined ? listOf(failures) : [failures!],
  };
  return [run];
}

/**
 * The problem of the commands in a report of test runs; null if there is none. The commands that ran in full, and the
 * others that the report names, must together be the configured ones. A call with arguments runs no command in full.
 */
export function testCommandsProblem(
  args: Fields,
  result: Fields,
  { test }: Pick<ProjectConfig, 'test'>,
): string | null {
  const parts: readonly Fields[] = [result, ...listOf(result['runs']).map((run) => fieldsOf(run))];
  // A list that is too long for the entry is stored as a blob.
  if (parts.some((part) => ['runs', 'command', 'others'].some((name) => isBlobReference(part[name])))) return null;
  const runs = testRunsOfStep(result);
  if (runs.length === 0) return null;
  const words = readCommandWords(args['command']) ?? [];
  const narrowed = words.length > 0 && matchTestCommand(words, test)?.narrowed === true;
  if (narrowed && runs.some((run) => !run.narrowed))
    return `a run of a part of the tests, ${shortJson([...words])}, was counted as a run of all`;
  // A narrowed run proves nothing, so the commands that it names do not matter.
  if (runs.every((run) => run.narrowed)) return null;
  const commands = [...new Set(test.map(({ run }) => fullTestCommandWords(run).join(' ')))].sort();
  const named = new Set(runs.flatMap(({ command, narrowed, others }) => [...(narrowed ? [] : [command]), ...others]));
  const reported = [...named].sort();
  return isSameJson(reported, commands) ? null : `the report names the test commands ${shortJson(reported)}`;
}

interface CommandRuns {
  readonly last: AuditedRun;
  readonly lastFull: AuditedRun['verdict'] | null;
  readonly passed: boolean;
  readonly failed: boolean;
}

/** Test runs by command, with only the facts that later verdicts need. */
export interface TestRuns {
  readonly commands: Map<string, CommandRuns>;
  /** The commands that must pass. */
  readonly required: Set<string>;
  count: number;
  failed: number;
}

export const noTestRuns = (): TestRuns => ({ commands: new Map(), required: new Set(), count: 0, failed: 0 });

/** A copy to which runs can be added. */
export const copyTestRuns = ({ commands, required, ...counts }: TestRuns): TestRuns => ({
  ...counts,
  commands: new Map(commands),
  required: new Set(required),
});

/** Adds a run. @returns true if another run of its command had the opposite verdict */
export function addTestRun(runs: TestRuns, run: AuditedRun): boolean {
  const { command, narrowed, verdict, others } = run;
  const before = runs.commands.get(command);
  const passed = before?.passed || verdict === 'pass';
  const failed = before?.failed || verdict === 'fail';
  runs.commands.set(command, { last: run, lastFull: narrowed ? (before?.lastFull ?? null) : verdict, passed, failed });
  for (const other of others) runs.required.add(other);
  runs.count += 1;
  if (verdict === 'fail') runs.failed += 1;
  return passed && failed;
}

/** True if every required command has a full run, and the last full run of each command passed. */
export const allRunsPassed = ({ commands, required }: TestRuns): boolean =>
  [...commands.values()].every(({ lastFull }) => lastFull === null || lastFull === 'pass') &&
  [...required].every((command) => commands.get(command)?.lastFull === 'pass');

/** True if these runs show that the present code passes its tests. */
export function doTestsPass(runs: TestRuns): boolean {
  const full = [...runs.commands.values()].filter(({ lastFull }) => lastFull !== null);
  return full.length > 0 && allRunsPassed(runs) && full.every(({ passed, failed }) => !(passed && failed));
}
