import {
  GIT_SUB_COMMANDS,
  type GitOptionSpelling,
  type GitSubCommand,
  type GitSubCommandName,
} from '../../spec/policy/git-commands.ts';

const IN_EDIT =
  'Run it with bash in a peripheral that edits: the changed files are kept, changed commits and refs are not.';
const BY_OPERATOR = 'Ask the operator to run this command: agents only add commits and branches.';
const REWRITES =
  'Agents only add commits; the operator rebases and merges. To take over changes, use git cherry-pick --no-commit, git revert --no-commit or git merge --squash with bash in a peripheral that edits, then commit.';
const FETCHES = 'Agents cannot fetch. Ask the operator to run git fetch or git pull.';

/** For each sub-command of git that agents cannot run: what to do instead. */
const INSTEAD: { readonly [name: string]: string } = {
  ...Object.fromEntries(['mv', 'rm', 'stash', 'clean', 'apply', 'blame', 'grep'].map((name) => [name, IN_EDIT])),
  ...Object.fromEntries(['rebase', 'merge', 'cherry-pick', 'revert', 'reset', 'am'].map((name) => [name, REWRITES])),
  ...Object.fromEntries(['fetch', 'pull', 'clone', 'remote', 'ls-remote'].map((name) => [name, FETCHES])),
  ...Object.fromEntries(['tag', 'config', 'worktree', 'submodule', 'gc', 'notes'].map((name) => [name, BY_OPERATOR])),
};

/** The remedy for a sub-command or option of git that agents cannot use; null if none is known. */
export function gitRemedyFor(name: string, option?: string): string | null {
  if (option === undefined) return Object.hasOwn(INSTEAD, name) ? INSTEAD[name]! : null;
  if (name === 'commit' && option.startsWith('--amend')) return 'Add a further commit; only the operator amends one.';
  if (name === 'push' && /^(?:-f|--force)/.test(option))
    return 'A push is fast-forward only. If the remote has other commits, ask the operator to merge them.';
  if (name === 'branch' && /^(?:-[dDmM]|--delete|--move)/.test(option)) return BY_OPERATOR;
  return null;
}

/** The git sub-command of this name; null if agents may not use it. */
export function findGitSubCommand(
  name: string,
): { readonly name: GitSubCommandName; readonly spec: GitSubCommand } | null {
  return Object.hasOwn(GIT_SUB_COMMANDS, name)
    ? { name: name as GitSubCommandName, spec: GIT_SUB_COMMANDS[name as GitSubCommandName] }
    : null;
}

/** The spelling of a git option in messages: `--message (-m) <value>`. */
export function spellGitOption({ long, short, value }: GitOptionSpelling): string {
  const name = long === undefined ? `-${short}` : short === undefined ? `--${long}` : `--${long} (-${short})`;
  return value === 'required' ? `${name} <value>` : name;
}
