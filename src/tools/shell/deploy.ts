import { excerpt } from '../../base/text.ts';
import { treeMismatch } from '../../gate/scope/tree.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import { splitCommand } from '../git/split-command.ts';
import { runOnline } from '../proxy/run-online.ts';
import { readOnlyLayout, testLayout } from '../sandbox/mounts/layouts.ts';
import { observeTree } from '../tree/observe-tree.ts';
import { failed, invalid, isStop, outOfScope, type Stop } from '../workspace/outcome.ts';
import { sameWords } from './configured-command.ts';
import { type ShellContext, treeOf } from './context.ts';
import { commandReport } from './report.ts';

/**
 * `bash-deploy`: a configured deploy command, by its name or its exact command line, run without a shell. It sees the
 * tree, on an overlay whose changes are discarded, and reaches only the hosts of its configuration.
 */
export async function deployTool(context: ShellContext): Promise<ToolReport | Stop> {
  const { call } = context;
  const chosen = chooseDeploy(call.grant.config.deploy, call.args['name']);
  if (isStop(chosen)) return chosen;
  const changed = await changedSinceTested(context);
  if (changed) return changed;
  const { run, network } = chosen.command;
  const tree = await treeOf(context);
  // The host's network also contains the abstract sockets of its services.
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
    ...tree.said,
  });
}

/** A deploy ships the current tree, which must be the one that was tested and approved. */
async function changedSinceTested({ call: { grant, signal }, sandbox }: ShellContext): Promise<Stop | null> {
  const tested = grant.release?.tree;
  if (!tested) return null;
  const why = treeMismatch(tested, await observeTree(sandbox, grant, signal));
  return why === null
    ? null
    : failed('not-what-was-tested', `It is not run: ${why}. Go back to test, run the tests again, and hop here again.`);
}

function chooseDeploy(
  configured: ProjectConfig['deploy'],
  given: unknown,
): { readonly name: string; readonly command: ProjectConfig['deploy'][string] } | Stop {
  const names = Object.keys(configured);
  if (names.length === 0)
    return outOfScope(
      'name',
      'No deploy command is configured for this repository.',
      'Ask the operator to set deploy: in hopgate.yaml, or, where it is set, to accept the file (`hopgate trust`).',
    );
  const list = `Configured are: ${names.map((name) => `${name} (${configured[name]!.run.join(' ')})`).join(' | ')}.`;
  if (typeof given !== 'string') return invalid('name', '"name" must be a string.', list);
  if (Object.hasOwn(configured, given)) return { name: given, command: configured[given]! };
  const split = splitCommand(given);
  const name = split.ok ? names.find((each) => sameWords(configured[each]!.run, split.words)) : undefined;
  if (name === undefined)
    return outOfScope('name', `"${excerpt(given, 200)}" is not a configured deploy command.`, list);
  return { name, command: configured[name]! };
}
