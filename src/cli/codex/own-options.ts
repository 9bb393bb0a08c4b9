import { CliError } from '../io.ts';

/** What stands between `hopgate codex` and Codex's own arguments. */
export interface CodexCommand {
  readonly root: string;
  readonly session: string | null;
  readonly peripheral: string | null;
  readonly approve: readonly string[];
  /** The program to start; null: the one on the PATH. */
  readonly codex: string | null;
  /** Resume `codex exec` with another sandbox when it ended in a peripheral that has one. */
  readonly follow: boolean;
  /** Codex's own. */
  readonly args: readonly string[];
}

const usage = (message: string, remedy: string): CliError => new CliError('usage', message, remedy, { exitCode: 2 });

const VALUES = {
  '--root': 'root',
  '--session': 'session',
  '--peripheral': 'peripheral',
  '--approve': 'approve',
  '--codex': 'codex',
} as const;

/**
 * hopgate's own options stand first; from the first word that is none of them, everything is Codex's, `--` or not.
 *
 * @throws CliError `usage`
 */
export function readCodexCommand(words: readonly string[]): CodexCommand {
  const said: {
    root: string;
    session: string | null;
    peripheral: string | null;
    approve: string[];
    codex: string | null;
  } = {
    root: '.',
    session: null,
    peripheral: null,
    approve: [],
    codex: null,
  };
  let follow = false;
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--follow') {
      follow = true;
      continue;
    }
    const [name = '', joined] = word.startsWith('--') && word.includes('=') ? split(word) : [word];
    if (!Object.hasOwn(VALUES, name)) break;
    const value = joined ?? words[++at];
    if (value === undefined || value === '') throw usage(`${name} needs a value`, `Write ${name} and what it is.`);
    const key = VALUES[name as keyof typeof VALUES];
    if (key === 'approve') said.approve.push(...value.split(',').filter((part) => part !== ''));
    else said[key] = value;
  }
  if (words[at] === '--') at++;
  const args = words.slice(at);
  refuseWhatOpens(args);
  return { ...said, follow, args };
}

const split = (word: string): [string, string] => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)];

/** Options of Codex's that would move its work away from the session, or open its sandbox. */
const SET_BY_HOPGATE: ReadonlySet<string> = new Set([
  '-s',
  '--sandbox',
  '-a',
  '--ask-for-approval',
  '-C',
  '--cd',
  '--add-dir',
  '--full-auto',
  '--yolo',
  '--approve-for-me',
  '--dangerously-bypass-approvals-and-sandbox',
  '--remote',
  '--search',
  '--worktree',
]);

/** Keys of Codex's config that hopgate sets, with what lies beneath. */
const KEYS_SET_BY_HOPGATE = [
  'hooks',
  'mcp_servers.hopgate',
  'features.hooks',
  'features.mcp_tool_list_changed',
  'default_permissions',
  'permissions',
  'sandbox_mode',
  'sandbox_workspace_write',
  'approval_policy',
  'web_search',
  'tools.web_search',
];

/** What of Codex runs an agent here, and takes hopgate's settings. */
const OTHER_COMMANDS: ReadonlySet<string> = new Set([
  'agents',
  'login',
  'logout',
  'mcp',
  'plugin',
  'app-server',
  'remote-control',
  'completion',
  'update',
  'doctor',
  'sandbox',
  'debug',
  'apply',
  'a',
  'queue',
  'archive',
  'delete',
  'migrate-rollouts',
  'migrate-nfs-db',
  'unarchive',
  'cloud',
  'exec-server',
  'features',
  'mcp-server',
]);

function refuseWhatOpens(args: readonly string[]): void {
  const [first = ''] = args;
  if (OTHER_COMMANDS.has(first))
    throw usage(`"codex ${first}" runs no agent in a session`, `Run it without hopgate: codex ${first}.`);
  for (const [index, word] of args.entries()) {
    if (word === '--') return;
    const [name] = word.startsWith('--') ? split(`${word}=`) : [word.slice(0, 2)];
    if (word.startsWith('-') && SET_BY_HOPGATE.has(name ?? ''))
      throw usage(`hopgate sets what ${name} sets, as the peripheral grants it`, `Leave ${name} out.`);
    const key = keyOf(word, args[index + 1]);
    const taken = key && KEYS_SET_BY_HOPGATE.find((own) => overlaps(key, own));
    if (taken) throw usage(`hopgate sets ${taken} itself`, `Leave ${key} out.`);
  }
}

/** The key that `-c key=value`, `--enable` or `--disable` sets. */
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

/** One lies within the other. */
const overlaps = (a: string, b: string): boolean => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
