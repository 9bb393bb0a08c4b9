import { namesOf } from '../../gate/scope/tree.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import { exploreLayout } from '../sandbox/mounts/layouts.ts';
import { isStop, type Stop } from '../workspace/outcome.ts';
import { discardedFiles } from './changed-code.ts';
import { shellCommand } from './command-argument.ts';
import { type ShellContext, treeOf } from './context.ts';
import { commandReport } from './report.ts';

const MAX_NAMED = 100;
const WHY = 'this command keeps no change of the tree';

/** `bash-readonly`: any command line, on a throwaway overlay of the tree. */
export async function readOnlyTool(context: ShellContext): Promise<ToolReport | Stop> {
  const argv = shellCommand(context.call);
  if (isStop(argv)) return argv;
  const tree = await treeOf(context);
  let discarded: readonly string[] = [];
  const result = await context.run(tree, exploreLayout(tree), argv, {
    inspect: async (view) => {
      discarded = await discardedFiles(context, view);
    },
  });
  return commandReport(context, result, [], { ...notKept(discarded), ...tree.said });
}

/** The fields of a result that name the discarded files. */
function notKept(paths: readonly string[]): { readonly [key: string]: Json } {
  if (paths.length === 0) return {};
  return {
    warning: `Not kept: ${namesOf(paths)}. This tool keeps no change of the tree.`,
    dropped: paths.slice(0, MAX_NAMED).map((path) => ({ path, why: WHY })),
  };
}
