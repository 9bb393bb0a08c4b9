import { GIT_SUB_COMMANDS, type GitSubCommand } from '../../../spec/policy/git-commands.ts';
import type { Json, ProjectConfig, ScopeRule } from '../../../spec/types.ts';
import { resolvePathInRoot } from '../audited-path.ts';
import { isMaskedPath } from '../protected-paths.ts';
import { isConfiguredBranch } from './audited-branches.ts';
import { splitSimpleCommand } from './audited-words.ts';

/** The reason why a command or an address is refused, with the code of the denial. */
export interface RefusalReason {
  readonly code: 'invalid-action' | 'out-of-scope';
  readonly why: string;
}

export const invalidActionReason = (why: string): RefusalReason => ({ code: 'invalid-action', why });
export const outOfScopeReason = (why: string): RefusalReason => ({ code: 'out-of-scope', why });

interface GitLimits {
  readonly command: ScopeRule['command'];
  readonly config: ProjectConfig;
  readonly root: string;
  readonly message: string | null;
}

interface GitCall {
  readonly sub: string;
  /** The options: by long name, or by short name if there is no long one, with the value of each use. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
  /** The paths after `--`. */
  readonly paths: readonly string[];
}

/** Judges the arguments of a git tool: the sub-command `sub`, and `args`. Each may contain several words. */
export function gitArgumentsRefusalReason(
  sub: Json | undefined,
  args: Json | undefined,
  limits: GitLimits,
): RefusalReason | null {
  const head = typeof sub === 'string' ? splitSimpleCommand(sub) : null;
  const tail = wordsAfter(args);
  if (head === null || tail === null) return invalidActionReason('the command is not one simple git command');
  const words = [...head, ...tail];
  return gitCommandRefusalReason(words[0] === 'git' ? words.slice(1) : words, limits);
}

function wordsAfter(args: Json | undefined): readonly string[] | null {
  if (args === undefined || args === '') return [];
  if (typeof args === 'string') return splitSimpleCommand(args);
  return Array.isArray(args) && args.every((word) => typeof word === 'string') ? args : null;
}

/** The reason why a scope does not grant the words of a git command, judged by their text; null if it does. */
export function gitCommandRefusalReason(words: readonly string[], limits: GitLimits): RefusalReason | null {
  const call = readCall(words);
  if (call === null)
    return invalidActionReason(`git ${words.join(' ')} is not among the commands and options for agents`);
  const { sub, operands, paths } = call;
  const changes = ['add', 'restore', 'switch', 'checkout', 'commit', 'push'].includes(sub);
  if ((changes || (sub === 'branch' && operands.length > 0)) && limits.command !== 'deploy')
    return outOfScopeReason(`git ${sub} ships, and the scope grants no shipping`);
  const all = [...operands, ...paths];
  if (sub === 'commit')
    return all.length === 0 ? messageReason(call, limits) : invalidActionReason('git commit takes no paths');
  if (sub === 'push') return pushReason(all, limits);
  if (['branch', 'switch', 'checkout'].includes(sub)) return branchReason(call, limits);
  if (sub === 'rev-parse') return all.every(isRevision) ? null : invalidActionReason('the command names no commit');
  if (sub === 'add' && all.length === 0 && !call.options.has('all') && !call.options.has('update'))
    return invalidActionReason('git add needs paths');
  return pathsReason(['add', 'restore', 'status'].includes(sub) ? all : paths, limits);
}

function readCall([sub = '', ...rest]: readonly string[]): GitCall | null {
  if (!Object.hasOwn(GIT_SUB_COMMANDS, sub) || rest.some((word) => word.includes('\0'))) return null;
  const table: GitSubCommand = GIT_SUB_COMMANDS[sub as keyof typeof GIT_SUB_COMMANDS];
  const options = new Map<string, string[]>();
  const operands: string[] = [];
  while (rest.length > 0) {
    const word = rest.shift()!;
    if (word === '--') return { sub, options, operands, paths: rest };
    if (!word.startsWith('-')) operands.push(word);
    else if (!takeOption(table, word, rest, options)) return null;
  }
  return { sub, options, operands, paths: [] };
}

/** Reads an option: `--name`, `--name=value`, `-n value`, `-nvalue`, `-ab` or `-5`; false if it is not in the table. */
function takeOption(table: GitSubCommand, word: string, rest: string[], options: Map<string, string[]>): boolean {
  if (table.digits !== undefined && /^-\d{1,9}$/.test(word)) return options.set(table.digits, [word.slice(1)]).size > 0;
  if (word.startsWith('--')) {
    const [name = ''] = word.slice(2).split('=', 1);
    const option = table.options.find(({ long }) => long === name);
    const value = word.length > name.length + 2 ? word.slice(name.length + 3) : null;
    return option !== undefined && takeOptions(option, name, value, rest, options);
  }
  for (let at = 1; at < word.length; at++) {
    const known = table.options.find(({ short }) => short === word[at]);
    if (known === undefined) return false;
    const name = known.long ?? known.short ?? '';
    if (known.value !== 'none') return takeOptions(known, name, word.slice(at + 1) || null, rest, options);
    options.set(name, ['']);
  }
  return word.length > 1;
}

function takeOptions(
  { value: takes }: GitSubCommand['options'][number],
  name: string,
  value: string | null,
  rest: string[],
  options: Map<string, string[]>,
): boolean {
  const has = value ?? (takes === 'required' ? rest.shift() : '');
  if (has === undefined || (takes === 'none' && value !== null)) return false;
  options.set(name, [...(options.get(name) ?? []), has]);
  return true;
}

/** A name of a commit, without ranges and without `@{…}`. */
function isRevision(word: string): boolean {
  const name = word.replace(/(?<![~^0-9])([0-9]*)[~^][~^0-9]*$/, '$1');
  const plain = [...name].every((char, at) => /[A-Za-z0-9]/.test(char) || (at > 0 && '_./-'.includes(char)));
  return name !== '' && plain && !word.includes('..') && !word.endsWith('.lock') && word.length <= 250;
}

/** If the context contains a commit message, the commit must use it; otherwise the message is free. */
function messageReason({ options }: GitCall, { message: required }: GitLimits): RefusalReason | null {
  const message = options.get('message');
  if (message === undefined) return required === null ? invalidActionReason('git commit needs a message') : null;
  const lines = (text: string) => text.split('\n').map((line) => line.replace(/(?<![ \t\r])[ \t\r]+$/, ''));
  // Normalises a message as git does: it joins paragraphs and drops blank lines at both ends.
  const plain = (text: string) =>
    lines(text)
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .replace(/^\n+/, '')
      .replace(/(?<!\n)\n+$/, '');
  if (required === null || plain(message.join('\n\n')) === plain(required)) return null;
  return invalidActionReason(`the commit message is not ${required}`);
}

function pushReason(words: readonly string[], { config: { git } }: GitLimits): RefusalReason | null {
  if (git === null) return outOfScopeReason('no remote is configured to push to');
  if (words.length > 2) return invalidActionReason('a push takes a remote and a branch');
  const [remote = git.remote, branch = 'HEAD'] = words;
  // A push that names no branch is judged after it ran, by the branch in its result.
  const may = remote === git.remote && (branch === 'HEAD' || isConfiguredBranch(branch, git));
  if (may && isRevision(remote) && isRevision(branch)) return null;
  return outOfScopeReason(
    `the command pushes ${branch} to ${remote}, not ${[git.branch].flat().join(' or ')} to ${git.remote}`,
  );
}

/** A branch that is created or switched to must be a configured one. */
function branchReason(
  { sub, options, operands, paths }: GitCall,
  { config: { git } }: GitLimits,
): RefusalReason | null {
  if (paths.length > 0) return invalidActionReason(`git ${sub} takes no paths`);
  const stated = (options.get('create') ?? options.get('b'))?.[0];
  const words = stated === undefined || sub === 'branch' ? operands : [stated, ...operands];
  const [branch] = words;
  if (branch === undefined) return sub === 'branch' ? null : invalidActionReason(`git ${sub} takes a branch`);
  if (words.length > 2) return invalidActionReason(`git ${sub} takes one branch`);
  const may = git !== null && isConfiguredBranch(branch, git) && isRevision(branch) && !branch.startsWith('refs/');
  return may ? null : outOfScopeReason(`${branch} is not a configured branch`);
}

function pathsReason(words: readonly string[], { root, config: { mask } }: GitLimits): RefusalReason | null {
  for (const word of words) {
    const found = resolvePathInRoot(root, word);
    if (!found.inside) return found.isPath ? outOfScopeReason(found.why) : invalidActionReason(found.why);
    if (isMaskedPath(found.path, mask)) return outOfScopeReason(`${word} is masked`);
  }
  return null;
}
