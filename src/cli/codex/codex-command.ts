import { splitWords } from '../../base/text.ts';
import { type ClientCommand, parseClientCommand, splitLongOption } from '../client/client-command.ts';
import { type ContinuedConversation, isConversationId } from '../client/continued-session.ts';
import { usageError } from '../io.ts';

export interface CodexCommand extends ClientCommand {
  /** With `--follow`, `codex exec` is resumed if it ended in a peripheral with another sandbox. */
  readonly follow: boolean;
  readonly args: readonly string[];
}

/** @throws CliError `usage` */
export function parseCodexCommand(words: readonly string[]): CodexCommand {
  const { own, on, args } = parseClientCommand('codex', words, ['--follow']);
  refuseOptions(args);
  return { ...own, continued: continuedConversation(args), follow: on.has('--follow'), args };
}

/** The conversation that `codex resume`, `codex fork` or `codex exec resume` continues. */
function continuedConversation(args: readonly string[]): ContinuedConversation | null {
  const words = args[0] === 'exec' || args[0] === 'e' ? args.slice(1) : args;
  const at = words.findIndex((word) => word === 'resume' || word === 'fork');
  const isOption = (word: string, index: number) => word.startsWith('-') || words[index - 1]?.startsWith('-');
  if (at < 0 || !words.slice(0, at).every(isOption)) return null;
  const after = words.slice(at + 1);
  const id = after.find((word) => isConversationId(word));
  return id === undefined ? (after.includes('--last') ? 'last' : null) : { id };
}

/** Codex's options that would move its work out of the session, or open its sandbox. */
const SET_BY_HOPGATE = splitWords(`
  -s --sandbox -a --ask-for-approval -C --cd --add-dir --full-auto --yolo --approve-for-me
  --dangerously-bypass-approvals-and-sandbox --remote --search --worktree
`);

/** Keys of Codex's config that hopgate sets, with all keys under them. */
const KEYS_SET_BY_HOPGATE = splitWords(`
  hooks mcp_servers.hopgate features.hooks features.mcp_tool_list_changed default_permissions permissions sandbox_mode
  sandbox_workspace_write approval_policy web_search tools.web_search
`);

/** Codex's subcommands that run no agent in a session. All others run one, with hopgate's settings. */
const OTHER_COMMANDS = splitWords(`
  agents login logout mcp plugin app-server remote-control completion update doctor sandbox debug apply a queue archive
  delete migrate-rollouts migrate-nfs-db unarchive cloud exec-server features mcp-server
`);

function refuseOptions(args: readonly string[]): void {
  const [first = ''] = args;
  if (OTHER_COMMANDS.includes(first))
    throw usageError(`"codex ${first}" runs no agent in a session`, `Run it without hopgate: codex ${first}.`);
  for (const [index, word] of args.entries()) {
    if (word === '--') return;
    const [name] = word.startsWith('--') ? splitLongOption(word) : [word.slice(0, 2)];
    if (word.startsWith('-') && SET_BY_HOPGATE.includes(name ?? ''))
      throw usageError(`hopgate sets ${name} itself, by the limits of the peripheral`, `Leave ${name} out.`);
    const key = keyOf(word, args[index + 1]);
    const setKey = key && KEYS_SET_BY_HOPGATE.find((own) => overlaps(key, own));
    if (setKey) throw usageError(`hopgate sets ${setKey} itself`, `Leave ${key} out.`);
  }
}

/** The config key that `-c key=value`, `--enable` or `--disable` sets. */
function keyOf(word: string, next = ''): string | null {
  const after = (option: string): string | null =>
    word === option ? next : word.startsWith(`${option}=`) ? word.slice(option.length + 1) : null;
  const feature = after('--enable') ?? after('--disable');
  if (feature !== null) return `features.${feature}`;
  const short =
    word.startsWith('-c') && !word.startsWith('--') ? (word === '-c' ? next : word.slice(2).replace(/^=/, '')) : null;
  const stated = after('--config') ?? short;
  return stated === null ? null : (stated.split('=')[0] ?? '').replaceAll(/["'\s]/g, '');
}

/** True if both keys are the same, or if one is a table that contains the other. */
const overlaps = (a: string, b: string): boolean => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
