import type { TestReport } from '../../spec/types.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { parseJunit } from '../test-report/junit.ts';
import type { ReportProblem, TestRunReport } from '../test-report/report.ts';
import { parseTap } from '../test-report/tap.ts';

/** What a test run came to. `none`: nothing can be concluded. */
export interface Verdict {
  readonly verdict: 'pass' | 'fail' | 'none';
  readonly report: TestRunReport | null;
  /** Why nothing can be concluded. */
  readonly reportProblem?: string;
}

/**
 * Judges a test run by its exit status and its report, never by words in its output. A pass needs exit status 0 and, where a report is
 * promised, one that shows a test that ran and none that failed. A pass of files that the run itself has changed is not one of the repository's.
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
  const judged = judgeReport(format, result, junit);
  if (judged.verdict !== 'pass' || changed.length === 0) return judged;
  const names = changed.slice(0, 3).join(', ');
  const reportProblem = `the run changed what it tests (${names}${changed.length > 3 ? ' and more' : ''}), so its pass is not one of the repository's files; have it write elsewhere, or let git ignore what it makes`;
  return { ...judged, verdict: 'none', reportProblem };
}

function judgeReport(format: TestReport, result: CommandResult, junit: string | null): Verdict {
  const read = readReport(format, result, junit);
  const report = read !== null && !('problem' in read) ? read : null;
  const problem = read !== null && 'problem' in read ? { reportProblem: read.problem } : {};
  if (result.exit !== 0) return { verdict: 'fail', report, ...problem };
  if (format === 'none') return { verdict: 'pass', report: null };
  if (report === null) return { verdict: 'none', report, ...problem };
  if (report.failed > 0) return { verdict: 'fail', report };
  return { verdict: report.passed > 0 ? 'pass' : 'none', report };
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
