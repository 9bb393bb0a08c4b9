import fs from 'node:fs';
import { join, normalize } from 'node:path';
import type { ToolReport } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import { boundText } from '../sandbox/bounded-output.ts';
import { testLayout } from '../sandbox/layouts.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { isStop, type Stop } from '../workspace/outcome.ts';
import { changedCode } from './changed-code.ts';
import { type ChosenTest, chooseTest } from './configured-command.ts';
import { type CallTree, overlayRefusal, type ShellContext, treeOf } from './context.ts';
import { commandReport } from './report.ts';
import { judgeRun } from './verdict.ts';
import { readWritten } from './written-file.ts';

/** A report on stdout is read from this much of it, whatever the agent gets to see. */
const REPORT_BYTES = 16 << 20;

const MAX_CHANGED = 100;

/** `bash-test`: a configured test command, run without a shell on a throwaway overlay; the repository stays as it is. */
export async function testTool(context: ShellContext): Promise<ToolReport | Stop> {
  const { call } = context;
  const chosen = chooseTest(call.grant.config.test, call.args['command']);
  if (isStop(chosen)) return chosen;
  const refusal = overlayRefusal(context);
  if (refusal) return refusal;
  const tree = await treeOf(context);
  const { result, junit, changed } = await runTest(context, tree, chosen);
  const { verdict, report, reportProblem } = judgeRun(chosen.report, result, junit, changed);
  return commandReport(context, forAgent(result, call.tool.limits.outputBytes), [], {
    command: [...chosen.argv],
    narrowed: chosen.narrowed,
    verdict,
    report: report as unknown as Json,
    ...tree.said,
    ...(reportProblem === undefined ? {} : { reportProblem }),
    ...(changed.length === 0 ? {} : { changedCode: changed.slice(0, MAX_CHANGED) }),
  });
}

async function runTest(
  context: ShellContext,
  tree: CallTree,
  { argv, report }: ChosenTest,
): Promise<{ result: CommandResult; junit: string | null; changed: readonly string[] }> {
  const { grant, tool } = context.call;
  const path = typeof report === 'object' ? report.junit : null;
  let junit: string | null = null;
  let changed: readonly string[] = [];
  const before = path === null || context.contained ? null : stamp(join(grant.root, path));
  const result = await context.run(tree, testLayout(tree), argv, {
    env: { CI: '1', NO_COLOR: '1' },
    outputBytes: report === 'tap' ? Math.max(REPORT_BYTES, tool.limits.outputBytes) : tool.limits.outputBytes,
    // Only what this run wrote is in the upper folder: an old report cannot be taken for a new one.
    inspect: async (view) => {
      if (path !== null) junit = readWritten(view.upper, path);
      changed = (await changedCode(context, view)).filter((each) => path === null || each !== normalize(path));
    },
  });
  if (path !== null && !context.contained && stamp(join(grant.root, path)) !== before)
    junit = readWritten(grant.root, path);
  return { result, junit, changed };
}

/** Tells whether a file was written in between. */
function stamp(path: string): string | null {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.ctimeMs} ${stats.size}` : null;
}

function forAgent(result: CommandResult, outputBytes: number): CommandResult {
  const stdout = boundText(result.stdout, outputBytes);
  const stderr = boundText(result.stderr, outputBytes);
  return {
    ...result,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: result.truncated || stdout.truncated || stderr.truncated,
  };
}
