import { splitWords } from '../../base/text.ts';
import { type ClientCommand, parseClientCommand, splitLongOption } from '../client/client-command.ts';
import { type ContinuedConversation, isConversationId } from '../client/continued-session.ts';
import { usageError } from '../io.ts';

export interface ClaudeCommand extends ClientCommand {
  readonly args: readonly string[];
  /** The user's `--settings`, unchanged; null if not given. */
  readonly settings: string | null;
}

/** @throws CliError `usage` */
export function parseClaudeCommand(words: readonly string[]): ClaudeCommand {
  const { own, args: rest } = parseClientCommand('claude', words);
  const { args, settings } = withoutSettings(rest);
  refuseOptions(args);
  return { ...own, continued: continuedConversation(args), args, settings };
}

function continuedConversation(args: readonly string[]): ContinuedConversation | null {
  for (const [at, word] of args.entries()) {
    if (word === '--') return null;
    const [name, joined] = splitLongOption(word);
    if (name === '--continue' || /^-[phv]*c[pchv]*$/.test(word)) return 'last';
    const id = joined ?? args[at + 1];
    if ((name === '--resume' || name === '-r') && isConversationId(id)) return { id: id ?? '' };
  }
  return null;
}

/** Removes the user's `--settings`. hopgate passes this option once, with the user's settings merged into its own. */
function withoutSettings(words: readonly string[]): Pick<ClaudeCommand, 'args' | 'settings'> {
  const args: string[] = [];
  let settings: string | null = null;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return { args: [...args, ...words.slice(at)], settings };
    const [name, joined] = splitLongOption(word);
    if (name !== '--settings') args.push(word);
    else settings = joined ?? words[++at] ?? '';
  }
  return { args, settings };
}

/** Claude Code's options that disable its hooks or work outside of this session, each with the reason to refuse it. */
const REFUSED_OPTIONS: { readonly [option: string]: string } = {
  '--bare': 'switches every hook off',
  '--safe-mode': 'switches every hook and plugin off',
  '--strict-mcp-config': "leaves out hopgate's tools",
  '--cloud': 'works on another machine',
  '--teleport': 'continues a session of another machine',
  '--environment': 'works on another machine',
  '--desktop': 'works in another program, without its hooks',
  '--bg': 'starts a process whose end hopgate does not see',
  '--background': 'starts a process whose end hopgate does not see',
  '--worktree': 'works in another tree; create it yourself, and start hopgate there',
  '-w': 'works in another tree; create it yourself, and start hopgate there',
  '--tmux': 'works in another tree; create it yourself, and start hopgate there',
};

/** Claude Code's subcommands that run no agent in a session. */
const OTHER_COMMANDS = splitWords(`
  agents attach auth auto-mode doctor gateway import install logs mcp plugin plugins purge respawn rm setup-token stop
  kill ultrareview update upgrade
`);

function refuseOptions(args: readonly string[]): void {
  const [first = ''] = args;
  if (OTHER_COMMANDS.includes(first))
    throw usageError(`"claude ${first}" runs no agent in a session`, `Run it without hopgate: claude ${first}.`);
  for (const word of args) {
    if (word === '--') return;
    const [long] = splitLongOption(word);
    // Short options can be combined, and a value can directly follow the last option.
    const name = /^-[pchv]*w/.test(word) ? '-w' : long;
    const why = Object.hasOwn(REFUSED_OPTIONS, name) ? REFUSED_OPTIONS[name] : undefined;
    if (why) throw usageError(`Claude Code's ${name} ${why}`, `Leave ${name} out.`);
  }
}
