import type { ObservedEffect, ToolReport } from '../../ports/tool-backend.ts';
import type { GitSubCommandName } from '../../spec/policy/git-commands.ts';
import type { Fields } from '../../spec/types.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';

/** The remedy if the repository differs from what was approved. */
export const APPROVE_AGAIN_REMEDY =
  'Leave this peripheral, run the tests again, and ask for approval of the current files.';

/** The report of a sub-command that ran: its exit code, its output, and fields of the sub-command. */
export function makeGitReport(
  sub: GitSubCommandName,
  result: CommandResult,
  more: Fields,
  effects: readonly ObservedEffect[] = [],
): ToolReport {
  if (result.aborted) return { outcome: ABORTED_OUTCOME, effects };
  const { exit, stdout, stderr, truncated, timedOut } = result;
  return { outcome: { status: 'ok', result: { sub, exit, stdout, stderr, truncated, timedOut, ...more } }, effects };
}

/** The result of a sub-command that need not run. */
export function resultWithoutRun(stderr: string, exit = 0): CommandResult {
  return {
    exit,
    signal: null,
    stdout: '',
    stderr,
    truncated: false,
    timedOut: false,
    aborted: false,
    flooded: false,
    seconds: 0,
  };
}

export function effectsOfMovedRef(ref: string, before: string | null, after: string | null): ObservedEffect[] {
  if (before === after) return [];
  return [{ path: ref, op: 'ref', ...(before === null ? {} : { before }), ...(after === null ? {} : { after }) }];
}
