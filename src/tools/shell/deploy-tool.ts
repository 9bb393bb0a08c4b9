import { isBadArgument } from '../../gate/commands/bad-argument.ts';
import { chooseDeployCommand } from '../../gate/commands/choose-command.ts';
import { describeTreeMismatch } from '../../gate/scope/compare-trees.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import { runOnline } from '../proxy/run-online.ts';
import { readOnlyLayout, testLayout } from '../sandbox/mounts/tool-layouts.ts';
import { observeTree } from '../tree/observe-tree.ts';
import { failedStop, isStop, refusalStop, type ToolStop } from '../workspace/tool-stop.ts';
import { commandReport } from './command-report.ts';
import { inspectCallTree, type ShellContext } from './shell-context.ts';

/**
 * `bash-deploy`: a configured deploy command, by its name or its exact command line, run without a shell. It sees the
 * tree, on an overlay whose changes are discarded, and reaches only the hosts of its configuration.
 */
export async function deployTool(context: ShellContext): Promise<ToolReport | ToolStop> {
  const { call } = context;
  const chosen = chooseDeployCommand(call.envelope.config.deploy, 'name', call.args['name']);
  if (isBadArgument(chosen)) return refusalStop(chosen);
  const changed = await changedSinceTested(context);
  if (changed) return changed;
  const { run, network } = chosen.command;
  const tree = await inspectCallTree(context);
  // With the host's network, a command with unix sockets could reach the abstract sockets of the host's services.
  const request = { ...tree, unixSockets: tree.unixSockets && !network };
  const layout = { ...(context.overlay ? testLayout(request) : readOnlyLayout(request)), name: 'deploy', network };
  const ran = await runOnline(context, tree, layout, chosen.command, {
    key: `deploy.${chosen.name}`,
    env: { CI: '1', NO_COLOR: '1' },
  });
  if (isStop(ran)) return ran;
  // Connections over the host's network are not observed, so the effects outside are unknown.
  return commandReport(context, ran.result, network ? 'unobserved' : ran.connects, {
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
    : failedStop(
        'not-what-was-tested',
        `The command was not run: ${why}. Go back to test, run the tests again, and hop here again.`,
      );
}
