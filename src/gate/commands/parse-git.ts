import {
  GIT_SUB_COMMANDS,
  type GitOptionSpelling,
  type GitSubCommand,
  type GitSubCommandName,
} from '../../spec/policy/git-commands.ts';

/** A git sub-command whose options are all allowed. Its operands are not checked yet. */
export interface ParsedGit {
  readonly sub: GitSubCommandName;
  readonly spec: GitSubCommand;
  readonly options: readonly { readonly option: GitOptionSpelling; readonly value: string | null }[];
  /** The words before `--` that are not options. */
  readonly operands: readonly string[];
  /** The words after `--`, which are always paths. */
  readonly paths: readonly string[];
}

type GitRefusal = { readonly ok: false; readonly message: string; readonly remedy: string };

/**
 * Parses the words of a git command line by the table of allowed options. Long options must be written in full; short
 * ones may be combined (`-am text`).
 *
 * @example
 * parseGit(['commit', '-am', 'fix: x']); // { ok: true, parsed: { sub: 'commit', … } }
 */
export function parseGit(words: readonly string[]): { readonly ok: true; readonly parsed: ParsedGit } | GitRefusal {
  const [name = '', ...rest] = words;
  if (!Object.hasOwn(GIT_SUB_COMMANDS, name))
    return refuse(
      `agents may not run git ${name || '(nothing)'}`,
      [gitRemedyFor(name), `Use one of: ${Object.keys(GIT_SUB_COMMANDS).join(', ')}.`].filter(Boolean).join(' '),
    );
  const control = rest.find((word) => word.includes('\0'));
  if (control !== undefined) return refuse('an argument contains a NUL character', 'Leave it out.');
  const sub = name as GitSubCommandName;
  const spec: GitSubCommand = GIT_SUB_COMMANDS[sub];
  const options: { option: GitOptionSpelling; value: string | null }[] = [];
  const operands: string[] = [];
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i]!;
    if (word === '--') return { ok: true, parsed: { sub, spec, options, operands, paths: rest.slice(i + 1) } };
    if (!word.startsWith('-')) {
      operands.push(word);
      continue;
    }
    const read = word.startsWith('--') ? readLong(spec, word) : readShort(spec, word);
    if (read === null) return refuseOption(sub, spec, word);
    for (const { option, value } of read) {
      if (option.value === 'none' && value !== null)
        return refuse(`git ${sub} ${word}: the option takes no value`, `Write ${spellGitOption(option)}.`);
      if (option.value === 'required' && value === null) {
        const next = rest[++i];
        if (next === undefined)
          return refuse(`git ${sub} ${word}: the value is missing`, `Write ${spellGitOption(option)}.`);
        options.push({ option, value: next });
      } else options.push({ option, value });
    }
  }
  return { ok: true, parsed: { sub, spec, options, operands, paths: [] } };
}

/** The options as words for git. A value is attached to its option, so that it is never parsed as an option. */
export function toGitOptionWords(options: ParsedGit['options']): string[] {
  return options.map(({ option, value }) => {
    if (option.long === undefined) return `-${option.short}${value ?? ''}`;
    return value === null ? `--${option.long}` : `--${option.long}=${value}`;
  });
}

type ReadOptions = readonly { readonly option: GitOptionSpelling; readonly value: string | null }[];

function readLong(spec: GitSubCommand, word: string): ReadOptions | null {
  const at = word.indexOf('=');
  const name = word.slice(2, at < 0 ? undefined : at);
  const option = spec.options.find(({ long }) => long === name);
  return option === undefined ? null : [{ option, value: at < 0 ? null : word.slice(at + 1) }];
}

function readShort(spec: GitSubCommand, word: string): ReadOptions | null {
  if (spec.digits !== undefined && /^-\d{1,9}$/.test(word)) {
    const option = spec.options.find(({ long }) => long === spec.digits);
    return option === undefined ? null : [{ option, value: word.slice(1) }];
  }
  const read: { option: GitOptionSpelling; value: string | null }[] = [];
  for (let i = 1; i < word.length; i++) {
    const option = spec.options.find(({ short }) => short === word[i]);
    if (option === undefined) return null;
    const rest = word.slice(i + 1);
    if (option.value !== 'none') {
      read.push({ option, value: rest === '' ? null : rest });
      return read;
    }
    read.push({ option, value: null });
  }
  return read.length === 0 ? null : read;
}

function refuseOption(sub: GitSubCommandName, spec: GitSubCommand, word: string): GitRefusal {
  const options = spec.options.map(spellGitOption).join(', ') || 'none';
  const remedy = `Allowed options, written in full: ${options}. Put -- before a path that begins with a dash.`;
  return refuse(`git ${sub} ${word}: agents may not use this option`, gitRemedyFor(sub, word) ?? remedy);
}

const refuse = (message: string, remedy: string): GitRefusal => ({ ok: false, message, remedy });

const IN_EDIT =
  'Run it with bash in a peripheral that edits: the changed files are kept, changed commits and refs are not.';
const BY_OPERATOR = 'Ask the operator to run this command: agents only add commits and branches.';
const REWRITES =
  'Agents only add commits; the operator rebases and merges. To take over changes, use git cherry-pick --no-commit, git revert --no-commit or git merge --squash with bash in a peripheral that edits, then commit.';
const FETCHES = 'Agents cannot fetch. Ask the operator to run git fetch or git pull.';

/** By sub-command of git that agents cannot run: the remedy. */
const INSTEAD: { readonly [name: string]: string } = {
  ...Object.fromEntries(['mv', 'rm', 'stash', 'clean', 'apply', 'blame', 'grep'].map((name) => [name, IN_EDIT])),
  ...Object.fromEntries(['rebase', 'merge', 'cherry-pick', 'revert', 'reset', 'am'].map((name) => [name, REWRITES])),
  ...Object.fromEntries(['fetch', 'pull', 'clone', 'remote', 'ls-remote'].map((name) => [name, FETCHES])),
  ...Object.fromEntries(['tag', 'config', 'worktree', 'submodule', 'gc', 'notes'].map((name) => [name, BY_OPERATOR])),
};

/** The remedy for a sub-command or option of git that agents cannot use; null if none is known. */
function gitRemedyFor(name: string, option?: string): string | null {
  if (option === undefined) return Object.hasOwn(INSTEAD, name) ? INSTEAD[name]! : null;
  if (name === 'commit' && option.startsWith('--amend')) return 'Add a further commit; only the operator amends one.';
  if (name === 'push' && /^(?:-f|--force)/.test(option))
    return 'A push is fast-forward only. If the remote has other commits, ask the operator to merge them.';
  if (name === 'branch' && /^(?:-[dDmM]|--delete|--move)/.test(option)) return BY_OPERATOR;
  return null;
}

/** The spelling of a git option in messages: `--message (-m) <value>`. */
function spellGitOption({ long, short, value }: GitOptionSpelling): string {
  const name = long === undefined ? `-${short}` : short === undefined ? `--${long}` : `--${long} (-${short})`;
  return value === 'required' ? `${name} <value>` : name;
}
