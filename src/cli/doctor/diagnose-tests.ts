import { plural } from '../../base/text.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import { sandboxOfProcess } from '../../tools/sandbox/detect-sandbox.ts';
import { type ComparedTest, compareTests, isSameTestOutcome } from '../../tools/shell/compare-tests.ts';
import type { TestRunOutcome } from '../../tools/test-report/judge-run.ts';
import type { Io } from '../io.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Runs each test command in the sandbox and, as the operator, outside. Reports different verdicts or counts. */
export async function diagnoseTests(root: string, config: ProjectConfig, io: Io): Promise<readonly Diagnosis[]> {
  const compared = await compareTests(await sandboxOfProcess(), { root, config }, { ...io.env });
  return compared.map((each) => {
    const name = each.argv.join(' ');
    if (isSameTestOutcome(each)) return { name, status: 'ok', found: `${wordsOf(each.inside)}; the same outside` };
    return {
      name,
      status: 'missing',
      found: `${wordsOf(each.inside)} in the sandbox, ${wordsOf(each.outside)} outside`,
      without: 'The verdict of bash-test differs from the verdict of this command outside.',
      fix: fixOf(each),
      details: each.inside.verdict === 'pass' ? [] : each.printed.split('\n'),
    };
  });
}

function wordsOf({ verdict, report, reportProblem }: TestRunOutcome): string {
  const counts =
    report === null
      ? ''
      : ` (${plural(report.passed, 'test')} passed, ${report.failed} failed, ${report.skipped} skipped)`;
  return `${verdict}${counts}${reportProblem === undefined ? '' : `: ${reportProblem}`}`;
}

function fixOf({ inside, outside }: ComparedTest): string {
  if (inside.verdict === 'pass' && outside.verdict !== 'pass')
    return 'Find out why the command does not pass outside before you rely on its pass in the sandbox.';
  return 'Give the sandbox what the tests need (programs, cache, env, minutes in hopgate.yaml: see "My tests need …"), or make the tests independent of these.';
}
