import type { ToolReport } from '../../ports/tool-backend.ts';
import { readOnlyLayout } from '../sandbox/mounts/layouts.ts';
import { isStop, type Stop } from '../workspace/outcome.ts';
import { shellCommand } from './command-argument.ts';
import { type ShellContext, treeOf } from './context.ts';
import { commandReport } from './report.ts';

/** `bash-readonly`: any command line, on a read-only tree. */
export async function readOnlyTool(context: ShellContext): Promise<ToolReport | Stop> {
  const argv = shellCommand(context.call);
  if (isStop(argv)) return argv;
  const tree = await treeOf(context);
  const result = await context.run(tree, readOnlyLayout(tree), argv);
  return commandReport(context, result, [], tree.said);
}
