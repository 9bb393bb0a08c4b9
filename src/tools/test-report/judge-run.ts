import type { TestReportFormat } from '../../spec/types.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { parseJunit } from './parse-junit.ts';
import { parseTap } from './parse-tap.ts';
import type { ReportProblem, TestRunReport } from './test-run-report.ts';

/** The outcome of a test run. `error` means that the run proves nothing. */
export interface TestRunOutcome {
  readonly verdict: 'pass' | 'fail' | 'error';
  readonly report: TestRunReport | null;
  /** The reason for which the run proves nothing, or the report cannot be read. */
  readonly reportProblem?: string;
  /** The remedy if the verdict is `error`. */
  readonly remedy?: string;
}

/** Exit statuses of a shell for a program that was not found or cannot be executed; many programs pass them on. */
const NOT_RUN: { readonly [exit: number]: string } = {
  126: 'a program that it calls is not executable',
  127: 'a program that it calls was not found',
};

/** The exit status with which a shell reports a SIGKILL: 128 + 9. */
const KILLED = 137;

/** Files with the versions of packages: a package manager rewrites one that does not fit its manifest. */
const LOCK_FILE = /[.-]lock(?:b|file|\.json|\.yaml)?$|(?:^|\/)go\.sum$/;

const COMPARE_PROGRAMS =
  'ask the operator to run "hopgate doctor", which compares the programs in the sandbox with those outside, and to add what is missing to toolchains: in hopgate.yaml';

/**
 * Judges a test run by its exit status and its report, never by words in its output. A pass needs exit status 0 and, if
 * a report is configured, a report with at least one test that ran and no test that failed. A pass of files that the
 * run itself changed is an error.
 * @param junit the report file; null if the run wrote none
 * @param changed tested files that the run changed
 */
export function judgeTestRun(
  format: TestReportFormat,
  result: CommandResult,
  junit: string | null,
  changed: readonly string[],
): TestRunOutcome {
  const { exit, timedOut, flooded, seconds } = result;
  const read = readReport(format, result, junit);
  const report = read !== null && !('problem' in read) ? read : null;
  const readProblem = read !== null && 'problem' in read ? read.problem : null;
  const error = (reportProblem: string, remedy: string): TestRunOutcome => ({
    verdict: 'error',
    report,
    reportProblem,
    remedy,
  });
  if (timedOut)
    return error(
      `the run timed out after ${Math.round(seconds)} s`,
      'look for a test that hangs; if the tests need longer, ask the operator to set minutes: for this command in hopgate.yaml',
    );
  if (flooded) return error('the run was killed because it printed too much', 'make the tests print less');
  if (report !== null && report.failed > 0) return { verdict: 'fail', report };
  if (exit !== null && NOT_RUN[exit] !== undefined)
    return error(`exit status ${exit}: ${NOT_RUN[exit]}`, COMPARE_PROGRAMS);
  if (exit === KILLED)
    return error(
      `exit status ${exit}: a process was killed (SIGKILL), as if the memory limit was exceeded`,
      'if the tests need more memory, ask the operator to set memory: for this command in hopgate.yaml',
    );
  if (report !== null && report.passed === 0 && (exit === 0 || report.total === 0))
    return error(
      'no test was counted',
      'see whether the command finds the tests; a run in which no test passed or failed proves nothing',
    );
  if (exit !== 0) return { verdict: 'fail', report, ...(readProblem === null ? {} : { reportProblem: readProblem }) };
  if (readProblem !== null)
    return error(
      readProblem,
      'ask the operator to correct report: for this command in hopgate.yaml ("none" uses only the exit status)',
    );
  if (changed.length === 0) return { verdict: 'pass', report };
  const names = changed.slice(0, 3).join(', ');
  return error(
    `the run changed what it tests (${names}${changed.length > 3 ? ' and more' : ''}), so the pass does not apply to the repository's files`,
    changed.every((path) => LOCK_FILE.test(path))
      ? `ask the operator to run the tests once outside of hopgate, which brings ${names} up to date, and to commit it`
      : 'make the tests write elsewhere, or let git ignore their outputs',
  );
}

function readReport(
  format: TestReportFormat,
  result: CommandResult,
  junit: string | null,
): TestRunReport | ReportProblem | null {
  if (format === 'none') return null;
  if (format === 'tap')
    return result.truncated ? { problem: 'the output is too long to read the TAP in it' } : parseTap(result.stdout);
  return junit === null ? { problem: `the run did not write a regular file: ${format.junit}` } : parseJunit(junit);
}
