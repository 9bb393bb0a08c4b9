import { commandProblem } from '../../gate/commands/judge-command.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { BACKGROUND_TOOL_ID } from '../../spec/policy/closed-lists.ts';
import { installTool } from '../install/install-tool.ts';
import { LayoutError } from '../sandbox/layout-error.ts';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { ABORTED, reportIfAborted } from '../tool-outcomes.ts';
import { failedStop, isStop, refusalStop, type ToolStop, tooLongStop } from '../workspace/tool-stop.ts';
import { backgroundTool } from './background/background-tool.ts';
import { SessionJobs } from './background/jobs.ts';
import { bashTool } from './bash-tool.ts';
import { deployTool } from './deploy-tool.ts';
import { LateMaskedFileError } from './late-masked-files.ts';
import { readOnlyTool } from './read-only-tool.ts';
import { type ShellContext, shellContext } from './shell-context.ts';
import { testTool } from './test-tool.ts';

type ShellTool = (context: ShellContext) => Promise<ToolReport | ToolStop>;

const TOOLS: { readonly [id: string]: ShellTool } = {
  'bash-readonly': readOnlyTool,
  bash: bashTool,
  'bash-test': testTool,
  'bash-deploy': deployTool,
  install: installTool,
};

/**
 * Commands in a sandbox: `bash-readonly`, `bash`, `bash-background`, `bash-test`, `bash-deploy`, `install`. The text of
 * a command line is never judged; the kernel decides what it may do, by the layout that it runs in.
 *
 * On a host that cannot contain commands every call is refused with `sandbox-unavailable`, unless the operator allowed
 * the tools anyway (`envelope.unsafeNoSandbox`): then results carry `unsandboxed: true` and effects are `unobserved`.
 *
 * @param env the operator's environment, in which commands find their programs and variables
 */
export function shellBackend(sandbox: Sandbox, env = () => process.env): ToolBackend {
  const jobs = new SessionJobs();
  const tools: typeof TOOLS = { ...TOOLS, [BACKGROUND_TOOL_ID]: (context) => backgroundTool(context, jobs) };
  return {
    name: 'shell',
    tools: Object.keys(tools),
    endBackground: (sessionId) => jobs.end(sessionId),
    close: () => jobs.endAll(),
    async run(call: ToolCall): Promise<ToolReport> {
      const tool = tools[call.tool.id];
      if (!tool) throw new Error(`[tools/shell] does not serve ${call.tool.id}`);
      const aborted = reportIfAborted(call);
      if (aborted) return aborted;
      const { scope, config, root, unsafeNoSandbox } = call.envelope;
      const problem = commandProblem({ ...call, scope, config, root, unsafeNoSandbox, message: null });
      const context = problem ? refusalStop(problem) : shellContext(sandbox, forCommands(call), env());
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
    if (signal.aborted && error === signal.reason) return { stop: ABORTED };
    if (error instanceof LayoutError) return failedStop('layout-impossible', error.message);
    if (error instanceof LateMaskedFileError) return failedStop('masked-file-uncovered', error.message);
    const stop = tooLongStop(error, 'command', 'Give fewer or shorter arguments.');
    if (stop !== null) return stop;
    if (error instanceof SandboxError)
      return failedStop(
        'sandbox-failed',
        `${error.message}; ask the operator to run "hopgate doctor", which names the missing part`,
      );
    throw error;
  }
}
