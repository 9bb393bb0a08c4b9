import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { observeTree } from '../tree/observe-tree.ts';
import { invalid, isStop, outOfScope, type Stop } from '../workspace/outcome.ts';
import { addGit, unstageGit } from './add.ts';
import { moveToBranch } from './branches/switch.ts';
import { commitGit } from './commit.ts';
import { openGitSession } from './git-session.ts';
import { parseGit } from './parse-arguments.ts';
import { pushGit } from './push.ts';
import { readGit } from './read.ts';
import { splitCommand } from './split-command.ts';

/**
 * Serves `bash-git`: `{ sub, args }`, where `sub` may also hold the whole command line (`"git commit -m 'fix: x'"`).
 * Git's arguments are built from a table of sub-commands and options; each kind of call has its own sandbox.
 *
 * @param env the operator's environment, which may name the author of commits
 */
export function gitBackend(sandbox: Sandbox, env = () => process.env): ToolBackend {
  return {
    name: 'git',
    tools: ['bash-git'],
    tree: (place) => observeTree(sandbox, place, place.signal, place.own, { agent: place.agent, env: env() }),
    run: async (call) => {
      const report = await runGit(sandbox, call, env()).catch(tooLong);
      return isStop(report) ? { outcome: report.stop, effects: [] } : report;
    },
  };
}

/** A refusal if the command line is longer than the system allows. */
function tooLong(error: unknown): Stop {
  if (![error, (error as Error).cause].some((each) => (each as NodeJS.ErrnoException | undefined)?.code === 'E2BIG'))
    throw error;
  return invalid('args', 'The command line is too long for this machine.', 'Name fewer paths, or a folder.');
}

/** Sub-commands that move a ref or stage for one; only for scopes that ship. */
const SHIPS: readonly string[] = ['add', 'restore', 'switch', 'checkout', 'commit', 'push'];

async function runGit(sandbox: Sandbox, call: ToolCall, env: NodeJS.ProcessEnv): Promise<ToolReport | Stop> {
  const read = commandWords(call.args['sub'], call.args['args']);
  if (isStop(read)) return read;
  const judged = parseGit(read.words);
  if (!judged.ok) return invalid(read.words[0] === undefined ? 'sub' : 'args', `${judged.message}.`, judged.remedy);
  const { parsed } = judged;
  const makesBranch = parsed.sub === 'branch' && parsed.operands.length > 0;
  if ((SHIPS.includes(parsed.sub) || makesBranch) && call.grant.scope.command !== 'deploy')
    return outOfScope(
      'sub',
      `git ${parsed.sub} prepares or ships a change, which the scope of ${call.grant.peripheral} does not allow: it is read-only.`,
      'Do it in a peripheral whose scope is git-push-only; status, diff, log and show work here.',
    );
  const session = await openGitSession(sandbox, call);
  if (isStop(session)) return session;
  switch (parsed.sub) {
    case 'add':
      return addGit(session, call, parsed);
    case 'restore':
      return unstageGit(session, call, parsed);
    case 'commit':
      return commitGit(session, call, parsed, env);
    case 'switch':
    case 'checkout':
      return moveToBranch(session, call, parsed);
    case 'branch':
      return makesBranch ? moveToBranch(session, call, parsed) : readGit(session, parsed);
    case 'push':
      return pushGit(session, call, parsed);
    default:
      return readGit(session, parsed);
  }
}

/** The words after `git`. */
function commandWords(sub: Json | undefined, args: Json | undefined): { readonly words: readonly string[] } | Stop {
  const form = 'Write {sub: "commit", args: ["-m", "fix: x"]} or {sub: "commit -m \'fix: x\'"}.';
  if (typeof sub !== 'string') return invalid('sub', '"sub" must be a string.', form);
  const head = splitArgument('sub', sub, form);
  if (isStop(head)) return head;
  const tail = argumentWords(args, form);
  if (isStop(tail)) return tail;
  const words = [...head.words, ...tail.words];
  return { words: words[0] === 'git' ? words.slice(1) : words };
}

function argumentWords(args: Json | undefined, form: string): { readonly words: readonly string[] } | Stop {
  if (args === undefined || args === null || args === '') return { words: [] };
  if (typeof args === 'string') return splitArgument('args', args, form);
  if (Array.isArray(args) && args.every((word) => typeof word === 'string')) return { words: args };
  return invalid('args', '"args" must be a list of strings.', form);
}

function splitArgument(argument: string, text: string, form: string): { readonly words: readonly string[] } | Stop {
  const split = splitCommand(text);
  if (split.ok) return split;
  return invalid(argument, `This is not one plain command: ${split.reason}.`, `No shell runs here. ${form}`);
}
