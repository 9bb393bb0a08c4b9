import type { ToolReport } from '../../ports/tool-backend.ts';
import { commandCacheMounts } from '../programs/cache-mounts.ts';
import { withMounts } from '../sandbox/mounts/layout.ts';
import { exploreLayout } from '../sandbox/mounts/tool-layouts.ts';
import { isStop, type ToolStop } from '../workspace/tool-stop.ts';
import { listDiscardedFiles } from './changed-code.ts';
import { commandReport, droppedField } from './command-report.ts';
import type { GitChanges } from './git/git-changes.ts';
import { gitChangesOfRoot, reportGitChanges } from './git/report-git-changes.ts';
import { inspectCallTree, type ShellContext, shellArgv } from './shell-context.ts';

const WHY = 'this tool keeps no change of the tree';

/** `bash-readonly`: any command line, on a throwaway overlay of the tree. */
export async function readOnlyTool(context: ShellContext): Promise<ToolReport | ToolStop> {
  const argv = shellArgv(context.call);
  if (isStop(argv)) return argv;
  const tree = await inspectCallTree(context);
  let discarded: readonly string[] = [];
  let git: GitChanges | null = null;
  const result = await context.run(tree, withMounts(exploreLayout(tree), commandCacheMounts(context.call)), argv, {
    onOutput: context.call.onOutput,
    inspect: async (view) => {
      git = gitChangesOfRoot(context.call.envelope.root, tree.scan, view);
      discarded = await listDiscardedFiles(context, view, new Set(tree.scan.maskedFiles));
    },
  });
  const report = commandReport(context, result, [], {
    ...droppedField(discarded.map((path) => ({ path, why: WHY }))),
    ...tree.remarks,
  });
  return reportGitChanges(report, git, 'nothing');
}
