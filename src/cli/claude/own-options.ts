import { CliError } from '../io.ts';

/** What stands between `hopgate claude` and Claude Code's own arguments. */
export interface ClaudeCommand {
  readonly root: string;
  readonly session: string | null;
  readonly peripheral: string | null;
  readonly approve: readonly string[];
  /** The program to start; null: the one on the PATH. */
  readonly claude: string | null;
  /** Claude Code's own. */
  readonly args: readonly string[];
  /** `--settings` of the user's, as it was given; null: none. */
  readonly settings: string | null;
}

const VALUES = {
  '--root': 'root',
  '--session': 'session',
  '--peripheral': 'peripheral',
  '--approve': 'approve',
  '--claude': 'claude',
} as const;

const usage = (message: string, remedy: string): CliError => new CliError('usage', message, remedy, { exitCode: 2 });

/**
 * hopgate's own options stand first; from the first word that is none of them, everything is Claude Code's, `--` or not.
 *
 * @throws CliError `usage`
 */
export function readClaudeCommand(words: readonly string[]): ClaudeCommand {
  const said = { root: '.', session: null, peripheral: null, claude: null } as {
    [key in 'root' | 'session' | 'peripheral' | 'claude']: string | null;
  };
  const approve: string[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    const [name, joined] = splitAt(word);
    if (!Object.hasOwn(VALUES, name)) break;
    const value = joined ?? words[++at];
    if (!value) throw usage(`${name} needs a value`, `Write ${name} and what it is.`);
    const key = VALUES[name as keyof typeof VALUES];
    if (key === 'approve') approve.push(...value.split(',').filter((part) => part !== ''));
    else said[key] = value;
  }
  if (words[at] === '--') at++;
  const { args, settings } = withoutSettings(words.slice(at));
  refuseWhatOpens(args);
  const { root, session, peripheral, claude } = said;
  return { root: root ?? '.', session, peripheral, approve, claude, args, settings };
}

function splitAt(word: string): [name: string, value: string | null] {
  const at = word.indexOf('=');
  return word.startsWith('--') && at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word, null];
}

/** `--settings` is ours to give, once: the user's goes in with it. */
function withoutSettings(words: readonly string[]): {
  readonly args: readonly string[];
  readonly settings: string | null;
} {
  const args: string[] = [];
  let settings: string | null = null;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return { args: [...args, ...words.slice(at)], settings };
    const [name, joined] = splitAt(word);
    if (name !== '--settings') args.push(word);
    else settings = joined ?? words[++at] ?? '';
  }
  return { args, settings };
}

/** Options of Claude Code's under which no hook, or nothing of this session, holds. */
const OPENS: { readonly [option: string]: string } = {
  '--bare': 'switches every hook off',
  '--safe-mode': 'switches every hook and plugin off',
  '--strict-mcp-config': "leaves out hopgate's tools",
  '--cloud': 'works on another machine',
  '--teleport': 'goes on with a session of another machine',
  '--environment': 'works on another machine',
  '--bg': 'starts a process that hopgate does not see end',
  '--background': 'starts a process that hopgate does not see end',
  '--worktree': 'works in another tree; make it yourself, and start hopgate there',
  '-w': 'works in another tree; make it yourself, and start hopgate there',
  '--tmux': 'works in another tree; make it yourself, and start hopgate there',
};

/** Claude Code's own commands run no agent here. */
const OTHER_COMMANDS: ReadonlySet<string> = new Set([
  ...['agents', 'attach', 'auth', 'auto-mode', 'doctor', 'gateway', 'import', 'install', 'logs', 'mcp', 'plugin'],
  ...['plugins', 'purge', 'respawn', 'rm', 'setup-token', 'stop', 'kill', 'ultrareview', 'update', 'upgrade'],
]);

function refuseWhatOpens(args: readonly string[]): void {
  const [first = ''] = args;
  if (OTHER_COMMANDS.has(first))
    throw usage(`"claude ${first}" runs no agent in a session`, `Run it without hopgate: claude ${first}.`);
  for (const word of args) {
    if (word === '--') return;
    const [name] = splitAt(word);
    const why = Object.hasOwn(OPENS, name) ? OPENS[name] : undefined;
    if (why) throw usage(`Claude Code's ${name} ${why}`, `Leave ${name} out.`);
  }
}
