import { isArgumentRefusal } from '../../gate/commands/argument-refusal.ts';
import { chooseDeployCommand } from '../../gate/commands/choose-command.ts';
import { commandProblem } from '../../gate/commands/judge-command.ts';
import { describeTreeMismatch } from '../../gate/scope/compare-trees.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { BACKGROUND_TOOL_ID } from '../../spec/policy/command-tools.ts';
import { LAZY_BACKENDS } from '../../spec/policy/tool-ids.ts';
import { runInstallTool } from '../install/install-tool.ts';
import { commandCacheMounts } from '../programs/cache-mounts.ts';
import { runConfiguredCommand } from '../proxy/run-configured-command.ts';
import { LayoutError } from '../sandbox/layout-error.ts';
import { addMountsToLayout } from '../sandbox/mounts/layout.ts';
import { makeExploreLayout, makeReadOnlyLayout, makeTestLayout } from '../sandbox/mounts/tool-layouts.ts';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { ABORTED_OUTCOME, reportIfAborted } from '../tool-outcomes.ts';
import { observeTree } from '../tree/observe-tree.ts';
import {
  failedToolStop,
  isStop,
  missingRootStop,
  refusalStop,
  type ToolStop,
  tooLongCommandStop,
} from '../workspace/tool-stop.ts';
import { runBackgroundTool } from './background/background-tool.ts';
import { SessionJobs } from './background/jobs.ts';
import { runBashTool } from './bash-tool.ts';
import { listDiscardedFiles } from './changed-code.ts';
import { droppedChangesField, makeCommandReport } from './command-report.ts';
import type { GitChanges } from './git/git-changes.ts';
import { findGitChangesOfRoot, reportGitChanges } from './git/report-git-changes.ts';
import { LateMaskedFileError } from './late-masked-files.ts';
import { argvOfShellCall, inspectCallTree, makeShellContext, type ShellContext } from './shell-context.ts';
import { runTestTool } from './test-tool.ts';

const TOOLS: { readonly [id: string]: (context: ShellContext) => Promise<ToolReport | ToolStop> } = {
  'bash-readonly': readOnlyTool,
  bash: runBashTool,
  'bash-test': runTestTool,
  'bash-deploy': deployTool,
  install: runInstallTool,
};

/**
 * Commands in a sandbox: `bash-readonly`, `bash`, `bash-background`, `bash-test`, `bash-deploy`, `install`. The text of
 * a command line is never judged; the kernel decides what it may do, by the layout that it runs in.
 *
 * On a machine that cannot sandbox commands every call is refused with `sandbox-unavailable`, unless the operator
 * allowed the tools anyway (`envelope.unsafeNoSandbox`): then results carry `unsandboxed: true` and effects are
 * `unobserved`.
 * @param env the operator's environment, in which commands find their programs and variables
 */
export function shellBackend(sandbox: Sandbox, env = () => process.env): ToolBackend {
  const jobs = new SessionJobs();
  const tools: typeof TOOLS = { ...TOOLS, [BACKGROUND_TOOL_ID]: (context) => runBackgroundTool(context, jobs) };
  return {
    ...LAZY_BACKENDS.shell,
    endBackground: (sessionId) => jobs.end(sessionId),
    close: () => jobs.endAll(),
    async run(call: ToolCall): Promise<ToolReport> {
      const tool = tools[call.tool.id];
      if (!tool) throw new Error(`[tools/shell] does not serve ${call.tool.id}`);
      const aborted = reportIfAborted(call);
      if (aborted) return aborted;
      const { scope, config, root, unsafeNoSandbox } = call.envelope;
      const problem = commandProblem({ ...call, scope, config, root, unsafeNoSandbox, message: null });
      const context = problem
        ? refusalStop(problem)
        : (missingRootStop(root) ?? makeShellContext(sandbox, forCommands(call), env()));
      const report = isStop(context) ? context : await attempt(() => tool(context), call.signal);
      return isStop(report) ? { outcome: report.stop, effects: [] } : report;
    },
  };
}

/** Removes the writable paths from the call if the scope's commands may only read. */
function forCommands(call: ToolCall): ToolCall {
  const { envelope } = call;
  if (envelope.scope.command === 'contained') return call;
  return { ...call, envelope: { ...envelope, scope: { ...envelope.scope, write: [] } } };
}

async function attempt(
  work: () => Promise<ToolReport | ToolStop>,
  signal: AbortSignal,
): Promise<ToolReport | ToolStop> {
  try {
    return await work();
  } catch (error) {
    // After each of these errors, the command did not run or its changes were discarded (LateMaskedFileError).
    if (signal.aborted && error === signal.reason) return { stop: ABORTED_OUTCOME };
    if (error instanceof LayoutError) return failedToolStop('layout-impossible', error.message);
    if (error instanceof LateMaskedFileError) return failedToolStop('masked-file-uncovered', error.message);
    const stop = tooLongCommandStop(error, 'command', 'Give fewer or shorter arguments.');
    if (stop !== null) return stop;
    if (error instanceof SandboxError)
      return failedToolStop(
        'sandbox-failed',
        `${error.message}; ask the operator to run "hopgate doctor", which names the missing part`,
      );
    throw error;
  }
}

/**
 * Runs `bash-deploy`: a configured deploy command, by its name or its exact command line, without a shell. It sees the
 * tree, on an overlay whose changes are discarded, and reaches only the hosts of its configuration.
 */
async function deployTool(context: ShellContext): Promise<ToolReport | ToolStop> {
  const { call } = context;
  const chosen = chooseDeployCommand(call.envelope.config.deploy, 'name', call.args['name']);
  if (isArgumentRefusal(chosen)) return refusalStop(chosen);
  const changed = await changedSinceTested(context);
  if (changed) return changed;
  const { run, network } = chosen.command;
  const tree = await inspectCallTree(context);
  // With the host's network, a command with unix sockets could reach the abstract sockets of the host's services.
  const request = { ...tree, unixSockets: tree.unixSockets && !network };
  const layout = {
    ...(context.overlay ? makeTestLayout(request) : makeReadOnlyLayout(request)),
    name: 'deploy',
    network,
  };
  const ran = await runConfiguredCommand(context, tree, layout, chosen.command, {
    key: `deploy.${chosen.name}`,
    env: { CI: '1', NO_COLOR: '1' },
  });
  if (isStop(ran)) return ran;
  // Connections over the host's network are not observed, so the effects outside are unknown.
  return makeCommandReport(context, ran.result, network ? 'unobserved' : ran.connects, {
    deploy: chosen.name,
    command: [...run],
    network,
    ...ran.fields,
    ...tree.remarks,
  });
}

/** The refusal of a deploy if the current tree is not the tested and approved one; null if it is. */
async function changedSinceTested({ call: { envelope, signal }, sandbox }: ShellContext): Promise<ToolStop | null> {
  const tested = envelope.shipping?.tree;
  if (!tested) return null;
  const why = describeTreeMismatch(tested, await observeTree(sandbox, envelope, signal));
  return why === null
    ? null
    : failedToolStop(
        'not-what-was-tested',
        `The command was not run: ${why}. Go back to test, run the tests again, and hop here again.`,
      );
}

const WHY = 'this tool keeps no change of the tree';

/** Runs `bash-readonly`: any command line, on a throwaway overlay of the tree. */
async function readOnlyTool(context: ShellContext): Promise<ToolReport | ToolStop> {
  const argv = argvOfShellCall(context.call);
  if (isStop(argv)) return argv;
  const tree = await inspectCallTree(context);
  let discarded: readonly string[] = [];
  let git: GitChanges | null = null;
  const result = await context.run(
    tree,
    addMountsToLayout(makeExploreLayout(tree), commandCacheMounts(context.call)),
    argv,
    {
      onOutput: context.call.onOutput,
      inspect: async (view) => {
        git = findGitChangesOfRoot(context.call.envelope.root, tree.scan, view);
        discarded = await listDiscardedFiles(context, view, new Set(tree.scan.maskedFiles));
      },
    },
  );
  const report = makeCommandReport(context, result, [], {
    ...droppedChangesField(discarded.map((path) => ({ path, why: WHY }))),
    ...tree.remarks,
  });
  return reportGitChanges(report, git, 'nothing');
}
