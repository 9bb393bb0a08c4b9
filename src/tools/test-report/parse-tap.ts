import { Parser, type Result } from 'tap-parser';
import { type ReportProblem, type TestRunReport, TestTally } from './test-run-report.ts';

/**
 * Parses TAP in a command's output and ignores other lines. If a test has subtests, only the subtests count. The test
 * counts as well if it failed and none of its subtests did. A missing or broken plan and a bail-out are failures.
 *
 * @example parseTap('1..2\nok 1 - a\nnot ok 2 - b\n'); // { format: 'tap', total: 2, passed: 1, failed: 1, … }
 */
export function parseTap(text: string): TestRunReport | ReportProblem {
  const tally = new TestTally();
  const parser = new Parser();
  let holdsTap = false;
  for (const event of ['version', 'plan', 'assert', 'bailout'] as const)
    parser.on(event, () => {
      holdsTap = true;
    });
  count(parser, tally, true);
  let planProblem: string | null = null;
  parser.on('complete', (results: { failures: { tapError?: string | null; name?: string }[] }) => {
    planProblem = results.failures.find(({ tapError }) => tapError)?.tapError ?? null;
  });
  parser.write(withoutEarlyPlans(text.endsWith('\n') ? text : `${text}\n`));
  // `end` emits the last test point, but also a plan that the output may lack, so only points count from here on.
  const heldTap = holdsTap;
  let points = 0;
  parser.on('assert', () => {
    points += 1;
  });
  parser.end();
  if (!heldTap && points === 0) return { problem: 'the output contains no TAP' };
  if (parser.bailedOut) tally.fail('bail out', String(parser.bailedOut));
  else if (planProblem !== null) tally.fail('test plan', planProblem);
  return tally.report('tap');
}

/** Counts a parser's leaf tests, and the leaf tests of its subtests. */
function count(parser: Parser, tally: TestTally, isTop: boolean): void {
  let failedBefore = tally.failed;
  parser.on('child', (child: Parser) => {
    failedBefore = tally.failed;
    count(child, tally, false);
  });
  parser.on('assert', (result: Result) => {
    if (result.closingTestPoint) {
      // A skipped or to-do parent excuses its subtests. A parent's own failure counts if none of its subtests failed.
      if (!result.ok && !isExcused(result) && tally.failed === failedBefore) fail(result);
    } else if (isExcused(result)) tally.skip();
    else if (!result.ok) fail(result);
    else if (!(isTop && isFileWithoutTests(result))) tally.pass();
  });
  const fail = (result: Result) => tally.fail(result.fullname || result.name || `test ${result.id}`, messageOf(result));
}

const isExcused = ({ skip, todo }: Result) => skip !== false || todo !== false;

/** Node reports a file in which no test ran as a passing test of the file's name. */
const isFileWithoutTests = ({ name, diag }: Result) =>
  /\.[cm]?[jt]sx?$/.test(name) && (diag as { type?: unknown } | null)?.type === 'test';

function messageOf({ diag, tapError }: Result): string {
  if (typeof tapError === 'string') return tapError;
  const { error, message } = (diag ?? {}) as { error?: unknown; message?: unknown };
  const nested = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
  return typeof nested === 'string' ? nested : typeof message === 'string' ? message : '';
}

/** Node prints the `1..0` of a file without tests; it means "no tests" only if no other test follows. */
function withoutEarlyPlans(text: string): string {
  const lines = text.split('\n');
  const lastPoint = lines.findLastIndex((line) => /^(not )?ok\b/.test(line));
  return lines.filter((line, at) => at > lastPoint || !/^1\.\.0\s*$/.test(line)).join('\n');
}
