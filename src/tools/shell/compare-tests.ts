import { delimiter } from 'node:path';
import { isArgumentRefusal } from '../../gate/commands/argument-refusal.ts';
import { chooseTestCommand } from '../../gate/commands/choose-command.ts';
import type { CallEnvelope } from '../../ports/tool-backend.ts';
import type { ToolSpec } from '../../spec/types.ts';
import { resultWithoutRun } from '../git/git-report.ts';
import { runUnsandboxed } from '../sandbox/run-unsandboxed.ts';
import { type CommandResult, type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { judgeTestRun, type TestRunOutcome } from '../test-report/judge-run.ts';
import { isStop } from '../workspace/tool-stop.ts';
import { inspectCallTree, makeShellContext, type ShellContext } from './shell-context.ts';
import { runTest } from './test-tool.ts';

export interface ComparedTest {
  readonly argv: readonly string[];
  readonly outside: TestRunOutcome;
  readonly inside: TestRunOutcome;
  /** The last lines that the run in the sandbox printed. */
  readonly printed: string;
}

/** The built-in tool `bash-test`, with its limits of time and output. */
const TOOL: ToolSpec = {
  id: 'bash-test',
  purpose: '',
  effect: 'observe',
  parameters: [],
  limits: { seconds: 600, outputBytes: 1 << 20 },
};

/** Runs each test command in the sandbox and, as the operator, outside of it. Only an operator may request that. */
export async function compareTests(
  sandbox: Sandbox,
  { root, config }: Pick<CallEnvelope, 'root' | 'config'>,
  env: NodeJS.ProcessEnv,
): Promise<readonly ComparedTest[]> {
  const scope = { read: 'root', write: [], command: 'test', url: 'none' } as const;
  const envelope: CallEnvelope = {
    root,
    config,
    scope,
    peripheral: 'test',
    readableFiles: null,
    unsafeNoSandbox: false,
  };
  const call = { tool: TOOL, args: {}, envelope, sessionId: 'compared', signal: new AbortController().signal };
  const context = makeShellContext(sandbox, call, env);
  const chosen = config.test.length === 0 ? [] : chooseTestCommand(config.test, null);
  if (isStop(context) || isArgumentRefusal(chosen) || !context.overlay) return [];
  const tree = await inspectCallTree(context);
  const PATH = [...(tree.programs?.path ?? []), env['PATH'] ?? ''].join(delimiter);
  const outside: ShellContext = {
    ...context,
    sandboxed: false,
    run: (_, layout, argv, options = {}) =>
      runUnsandboxed(layout, argv, {
        ...TOOL.limits,
        signal: call.signal,
        ...options,
        env: { ...(env as { [name: string]: string }), PATH, ...options.env },
      }).catch((error: unknown) => notStarted(error)),
  };
  const compared: ComparedTest[] = [];
  for (const test of chosen) {
    const judge = async (where: ShellContext) => {
      const { result, junit, changed } = await runTest(where, tree, test);
      return { result, verdict: judgeTestRun(test.config.report, result, junit, changed) };
    };
    const [out, within] = [await judge(outside), await judge(context)];
    const printed = `${within.result.stdout}\n${within.result.stderr}`
      .trim()
      .split('\n')
      .slice(-PRINTED_LINES)
      .join('\n');
    compared.push({ argv: test.argv, outside: out.verdict, inside: within.verdict, printed });
  }
  return compared;
}

const PRINTED_LINES = 5;

/** The result for a program that does not exist outside of the sandbox; inside, bubblewrap gives the same result. */
function notStarted(error: unknown): CommandResult {
  if (!(error instanceof SandboxError)) throw error;
  return resultWithoutRun(error.message, 127);
}

/** True if both runs of a test command have the same verdict (pass, fail or error) and the same numbers of tests. */
export const isSameTestOutcome = ({ outside, inside }: ComparedTest): boolean =>
  outside.verdict === inside.verdict &&
  (['passed', 'failed', 'skipped'] as const).every((each) => outside.report?.[each] === inside.report?.[each]);
