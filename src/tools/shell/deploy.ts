import type { ToolReport } from '../../ports/tool-backend.ts';
import { readOnlyLayout } from '../sandbox/layouts.ts';
import { splitCommand } from '../git/split-command.ts';
import { invalid, isStop, outOfScope, type Stop } from '../workspace/outcome.ts';
import { sameWords } from './configured-command.ts';
import { type ShellContext, treeOf } from './context.ts';
import { commandReport } from './report.ts';

/**
 * `bash-deploy`: a configured deploy command, by its name or its exact command line, run without a shell. It sees the tree and cannot change it,
 * and has no network.
 */
export async function deployTool(context: ShellContext): Promise<ToolReport | Stop> {
  const { call } = context;
  const chosen = chooseDeploy(call.grant.config.deploy, call.args['name']);
  if (isStop(chosen)) return chosen;
  const layout = { ...readOnlyLayout(treeOf(call)), name: 'deploy' };
  const result = await context.run(layout, chosen.argv, { env: { CI: '1', NO_COLOR: '1' } });
  return commandReport(context, result, [], { deploy: chosen.name, command: [...chosen.argv] });
}

function chooseDeploy(
  configured: { readonly [name: string]: readonly string[] },
  given: unknown,
): { readonly name: string; readonly argv: readonly string[] } | Stop {
  const names = Object.keys(configured);
  if (names.length === 0)
    return outOfScope(
      'name',
      'No deploy command is configured for this repository.',
      'Ask the operator to set deploy: in hopgate.yaml.',
    );
  const list = `Configured are: ${names.map((name) => `${name} (${configured[name]!.join(' ')})`).join(' | ')}.`;
  if (typeof given !== 'string') return invalid('name', '"name" must be a string.', list);
  if (Object.hasOwn(configured, given)) return { name: given, argv: configured[given]! };
  const split = splitCommand(given);
  const name = split.ok ? names.find((each) => sameWords(configured[each]!, split.words)) : undefined;
  if (name === undefined) return outOfScope('name', `"${given}" is not a configured deploy command.`, list);
  return { name, argv: configured[name]! };
}
