import type { TestReport } from '../../spec/types.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { parseJunit } from './junit.ts';
import type { ReportProblem, TestRunReport } from './report.ts';
import { parseTap } from './tap.ts';

/** The outcome of a test run. `error`: nothing can be concluded from it. */
export interface Verdict {
  readonly verdict: 'pass' | 'fail' | 'error';
  readonly report: TestRunReport | null;
  /** Why nothing can be concluded, or why the report cannot be read. */
  readonly reportProblem?: string;
  /** With `error`: how to get a verdict. */
  readonly remedy?: string;
}

/** An exit status of a shell, and of everything that passes it on: a program was not found, or cannot be executed. */
const NOT_RUN: { readonly [exit: number]: string } = {
  126: 'a program that it calls cannot be executed',
  127: 'a program that it calls was not found',
};

const LEFT_OUT =
  'ask the operator to run "hopgate doctor", which compares the programs in the sandbox with those outside, and to add what is missing to toolchains: in hopgate.yaml';

/**
 * Judges a test run by its exit status and its report, never by words in its output. A pass needs exit status 0 and, where a report is
 * promised, one that shows a test that ran and none that failed. A pass of files that the run itself has changed is an error.
 *
 * @param junit the report file; null: there is none that the run wrote
 * @param changed paths of what it tests that it left otherwise than it found them
 */
export function judgeRun(
  format: TestReport,
  result: CommandResult,
  junit: string | null,
  changed: readonly string[],
): Verdict {
  const { exit, timedOut, flooded, seconds } = result;
  const read = readReport(format, result, junit);
  const report = read !== null && !('problem' in read) ? read : null;
  const unread = read !== null && 'problem' in read ? read.problem : null;
  const error = (reportProblem: string, remedy: string): Verdict => ({
    verdict: 'error',
    report,
    reportProblem,
    remedy,
  });
  if (timedOut)
    return error(
      `the time was up after ${Math.round(seconds)} s`,
      'look for a test that hangs; if the tests need longer, ask the operator to set minutes: for this command in hopgate.yaml',
    );
  if (flooded) return error('the run was ended because it flooded its output', 'make the tests print less');
  if (report !== null && report.failed > 0) return { verdict: 'fail', report };
  if (exit !== null && NOT_RUN[exit] !== undefined) return error(`exit status ${exit}: ${NOT_RUN[exit]}`, LEFT_OUT);
  if (report !== null && report.passed === 0 && (exit === 0 || report.total === 0))
    return error(
      'no test was counted',
      'see whether the command finds the tests; a run without one test that passed or failed shows nothing',
    );
  if (exit !== 0) return { verdict: 'fail', report, ...(unread === null ? {} : { reportProblem: unread }) };
  if (unread !== null)
    return error(
      unread,
      'ask the operator to correct report: for this command in hopgate.yaml; none takes the exit status alone',
    );
  if (changed.length === 0) return { verdict: 'pass', report };
  const names = changed.slice(0, 3).join(', ');
  return error(
    `the run changed what it tests (${names}${changed.length > 3 ? ' and more' : ''}), so its pass is not one of the repository's files`,
    'have the tests write elsewhere, or let git ignore what they make',
  );
}

function readReport(
  format: TestReport,
  result: CommandResult,
  junit: string | null,
): TestRunReport | ReportProblem | null {
  if (format === 'none') return null;
  if (format === 'tap')
    return result.truncated ? { problem: 'the output is too long to read the TAP in it' } : parseTap(result.stdout);
  return junit === null ? { problem: `the run wrote no regular file ${format.junit}` } : parseJunit(junit);
}
