import { getOwn } from '../../spec/names.ts';
import { peripheralsWithTool } from '../../spec/peripherals-with.ts';
import { BACKGROUND_TOOL_ID, COMMAND_TOOLS, type CommandTool } from '../../spec/policy/command-tools.ts';
import type { Json, SpecSet } from '../../spec/types.ts';
import { isShippingCommand } from '../commands/git-command.ts';
import type { DenialCode, WayLeg } from '../denial.ts';
import type { SessionView } from '../session-view.ts';
import { shortestWay } from './shortest-way.ts';

/** A tool that can run a refused command, and the shortest path to it. */
interface WayToCommand {
  readonly by: string;
  readonly way: readonly WayLeg[];
}

/**
 * Finds the tool and the path for a command that a tool for configured commands refused: a command of git that ships is
 * run by bash-git, any other by a shell. A line of several commands gets the path of git only. null if there is no
 * path, if the call names no command, or if it is to install something, for which a shell has no network. The text of
 * the command is interpreted only for this advice.
 */
export function wayToRunCommand(
  specs: SpecSet,
  view: SessionView,
  refused: { readonly tool: string; readonly command: Json | undefined; readonly code: DenialCode },
): WayToCommand | null {
  const runs = getOwn(COMMAND_TOOLS, refused.tool)?.runs;
  if (runs === undefined || runs === 'a shell' || runs === 'git' || runs === 'installs') return null;
  if (refused.command === undefined || refused.command === null) return null;
  const words = [refused.command].flat().join(' ').trim().split(/\s+/);
  if (isShippingCommand(gitSubCommandOf(words))) return wayTo(specs, view, 'git');
  return refused.code === 'out-of-scope' ? wayTo(specs, view, 'a shell') : null;
}

const GIT_OPTIONS_WITH_VALUE: readonly string[] = ['-C', '-c', '--git-dir', '--work-tree', '--namespace'];

/** The sub-command of git, which variables may precede (`A=b /usr/bin/git -C . push`); empty for other programs. */
function gitSubCommandOf(words: readonly string[]): string {
  let at = words.findIndex((word) => !/^\w+=/.test(word));
  if (!/(?:^|\/)git$/.test(words[at] ?? '')) return '';
  at += 1;
  while (words[at]?.startsWith('-')) at += GIT_OPTIONS_WITH_VALUE.includes(words[at]!) ? 2 : 1;
  return words[at] ?? '';
}

function wayTo(specs: SpecSet, view: SessionView, kind: CommandTool['runs']): WayToCommand | null {
  const ways = Object.entries(COMMAND_TOOLS).flatMap(([by, { runs, worksIn }]) => {
    const effect = getOwn(specs.tools, by)?.effect;
    if (runs !== kind || effect === undefined || by === BACKGROUND_TOOL_ID) return [];
    const having = [...peripheralsWithTool(specs, by)].filter((id) =>
      worksIn.includes(specs.peripherals[id]!.scope.rule.command),
    );
    const way = shortestWay(specs, view, new Set(having), effect);
    return way === null ? [] : [{ by, way }];
  });
  return ways.toSorted((a, b) => a.way.length - b.way.length)[0] ?? null;
}
