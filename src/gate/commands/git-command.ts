import type { GitConfig, Json, ScopeRule } from '../../spec/types.ts';
import { branchPatterns, mayShipBranch } from '../scope/branch-patterns.ts';
import { locatePath } from '../scope/locate-path.ts';
import { isGitInternal, isMaskedByConfig } from '../scope/masks.ts';
import { type ArgumentRefusal, isArgumentRefusal, refuseArgument, refuseArgumentByScope } from './argument-refusal.ts';
import { type ParsedGit, parseGit } from './parse-git.ts';
import { splitCommand } from './split-command.ts';

/** The rules for a git command, from its scope and from the repository's configuration. */
interface GitRules {
  readonly command: ScopeRule['command'];
  readonly git: GitConfig | null;
  readonly root: string;
  readonly mask: readonly string[];
  /** The message that a commit must have; null if any message is allowed. */
  readonly message: string | null;
}

/** Sub-commands of git that make or prepare a commit, a branch or a push. Only a scope that ships allows them. */
const SHIPS: readonly string[] = ['add', 'restore', 'switch', 'checkout', 'commit', 'push'];

/** True for a sub-command that makes commits or branches, or pushes them. */
export const isShippingCommand = (sub: string): boolean => SHIPS.includes(sub) || sub === 'branch';

const SET_GIT =
  'Ask the operator to set git: { remote: origin, branch: main } in hopgate.yaml, or, if it is set there, to trust the file (`hopgate trust`).';

const FORM = 'Write {sub: "commit", args: ["-m", "fix: x"]} or {sub: "commit -m \'fix: x\'"}.';

const REF = /^[A-Za-z0-9][\w./-]*(?:[~^]\d*)*$/;

/** True if a word can name a commit: letters, digits, `_ . / -`, then `~2` or `^`, repeated. No `..`, `@{` or `:`. */
export function isCommitName(word: string): boolean {
  return REF.test(word) && !word.includes('..') && !word.endsWith('.lock') && word.length <= 250;
}

/** The words of a git call `{ sub, args }`, without `git`; `sub` may hold the whole command line. */
export function readGitWords(
  sub: Json | undefined,
  args: Json | undefined,
): { readonly words: readonly string[] } | ArgumentRefusal {
  if (typeof sub !== 'string') return refuseArgument('sub', '"sub" must be a string.', FORM);
  const head = splitArgument('sub', sub);
  if (isArgumentRefusal(head)) return head;
  const tail = argumentWords(args);
  if (isArgumentRefusal(tail)) return tail;
  const words = [...head.words, ...tail.words];
  return { words: words[0] === 'git' ? words.slice(1) : words };
}

function argumentWords(args: Json | undefined): { readonly words: readonly string[] } | ArgumentRefusal {
  if (args === undefined || args === null || args === '') return { words: [] };
  if (typeof args === 'string') return splitArgument('args', args);
  if (Array.isArray(args) && args.every((word) => typeof word === 'string')) return { words: args };
  return refuseArgument('args', '"args" must be a list of strings.', FORM);
}

function splitArgument(argument: string, text: string): { readonly words: readonly string[] } | ArgumentRefusal {
  const split = splitCommand(text);
  if (split.ok) return split;
  return refuseArgument(argument, `This is not one simple command: ${split.reason}.`, `No shell runs it. ${FORM}`);
}

/**
 * Judges the words of a git command by their text: sub-command, options, remote, branch and paths. A command that
 * ships needs a scope with deploy commands. The backend judges what only the repository knows: commits, the branch of
 * HEAD, links.
 * @returns the parsed command if the scope grants it
 */
export function judgeGitCommand(
  words: readonly string[],
  rules: GitRules,
): { readonly parsed: ParsedGit } | ArgumentRefusal {
  const judged = parseGit(words);
  if (!judged.ok) return refuseArgument(words[0] === undefined ? 'sub' : 'args', `${judged.message}.`, judged.remedy);
  const { parsed } = judged;
  if ((SHIPS.includes(parsed.sub) || isBranchCreation(parsed)) && rules.command !== 'deploy')
    return refuseArgumentByScope(
      'sub',
      `git ${parsed.sub} prepares or ships a change, which this scope does not allow: it is read-only.`,
      'Run it in a peripheral whose scope is git-push-only; status, diff, log and show work here.',
    );
  return operandProblem(parsed, rules) ?? { parsed };
}

export const isBranchCreation = ({ sub, operands }: ParsedGit): boolean => sub === 'branch' && operands.length > 0;

/** The branch that a command creates or switches to, then the commit at which a new branch starts. */
export function readBranchOperands({ options, operands }: ParsedGit): readonly string[] {
  const stated = options.find(({ option }) => ['create', 'b'].includes(option.long ?? option.short ?? ''));
  return [...(stated ? [stated.value ?? ''] : []), ...operands];
}

function operandProblem(parsed: ParsedGit, rules: GitRules): ArgumentRefusal | null {
  const { sub, operands, paths, options } = parsed;
  switch (sub) {
    case 'commit':
      if (operands.length + paths.length === 0) return messageProblem(parsed, rules.message);
      return refuseArgument('args', 'git commit takes no paths.', 'Stage them first: {sub: "add", args: ["path"]}.');
    case 'push':
      return pushProblem([...operands, ...paths], rules.git);
    case 'branch':
    case 'switch':
    case 'checkout':
      return branchProblem(parsed, rules.git);
    case 'rev-parse': {
      const strange = [...operands, ...paths].find((word) => !isCommitName(word));
      if (strange === undefined) return null;
      return refuseArgument('args', `"${strange}" does not name a commit.`, 'Name a branch, tag, commit, or HEAD~1.');
    }
    case 'add': {
      const all = options.some(({ option }) => option.long === 'all' || option.long === 'update');
      if (!all && operands.length + paths.length === 0)
        return refuseArgument('args', 'git add needs paths.', 'Name files or folders; "." means every changed file.');
      return pathsProblem([...operands, ...paths], rules);
    }
    case 'restore':
    case 'status':
      return pathsProblem([...operands, ...paths], rules);
    case 'diff':
    case 'log':
    case 'show':
      return pathsProblem(paths, rules);
    default:
      return sub satisfies never;
  }
}

/** The message of a git commit command, its paragraphs joined; null without a message. */
export function readCommitMessage({ options }: ParsedGit): string | null {
  const stated = options.filter(({ option }) => option.long === 'message').map(({ value }) => value ?? '');
  return stated.length === 0 ? null : stated.join('\n\n');
}

function messageProblem(parsed: ParsedGit, due: string | null): ArgumentRefusal | null {
  const message = readCommitMessage(parsed);
  if (message === null && due === null)
    return refuseArgument(
      'args',
      'git commit needs a message.',
      'Write {sub: "commit", args: ["-m", "what changed"]}.',
    );
  if (message === null || due === null || isSameCommitMessage(due, message)) return null;
  return refuseArgument('args', 'This is not the commit message that was approved.', `Leave -m out, or write: ${due}`);
}

/** True if two commit messages differ at most in the white space that git removes. */
export function isSameCommitMessage(a: string, b: string): boolean {
  const plain = (text: string) =>
    text
      .replace(/(?<![ \t\r])[ \t\r]+$/gm, '')
      .replace(/\n{3,}/g, '\n\n')
      .replace(/^\n+|(?<!\n)\n+$/g, '');
  return plain(a) === plain(b);
}

/** The problem of a push, which may only send a configured branch to the configured remote; null if there is none. */
function pushProblem(words: readonly string[], git: GitConfig | null): ArgumentRefusal | null {
  if (git === null) return refuseArgumentByScope('args', 'no remote is configured to push to', SET_GIT);
  const allowed = branchPatterns(git).join(', ');
  const plain = `Push as {sub: "push"}: it sends ${allowed} to ${git.remote}.`;
  if (words.length > 2) return refuseArgument('args', 'git push takes at most a remote and a branch.', plain);
  const [remote = git.remote, branch = 'HEAD'] = words;
  if (remote !== git.remote) return refuseArgumentByScope('args', `"${remote}" is not the configured remote.`, plain);
  if (branch !== 'HEAD' && !mayShipBranch(branch, git)) return refuseBranchPush(branch, git);
  if (isCommitName(remote) && isCommitName(branch)) return null;
  return refuseArgumentByScope('args', `"${remote}" "${branch}" is not a remote and a branch`, SET_GIT);
}

/** The refusal of a push of a branch that is not among the configured ones. */
export function refuseBranchPush(branch: string, git: GitConfig): ArgumentRefusal {
  const patterns = branchPatterns(git);
  const allowed = patterns.join(', ');
  const ownBranch = patterns.some((pattern) => pattern.includes('*'))
    ? 'Create a branch for the change with {sub: "switch", args: ["-c", …]}.'
    : 'For a branch of its own, ask the operator to add it to git.branch, as in branch: [main, "agent/*"].';
  return refuseArgumentByScope(
    'args',
    `"${branch}" is not the configured branch (${allowed}).`,
    `Push as {sub: "push"}: it sends ${allowed} to ${git.remote}. ${ownBranch}`,
  );
}

function branchProblem(parsed: ParsedGit, git: GitConfig | null): ArgumentRefusal | null {
  const { sub, paths } = parsed;
  const words = readBranchOperands(parsed);
  const [name] = words;
  if (paths.length > 0)
    return refuseArgument(
      'args',
      `git ${sub} takes no paths.`,
      'To restore files, run git restore with bash in a peripheral that edits.',
    );
  if (sub === 'branch' && name === undefined) return null;
  if (name === undefined || words.length > 2)
    return refuseArgument(
      'args',
      `git ${sub} takes one branch.`,
      'Write {sub: "switch", args: ["-c", "agent/topic"]}.',
    );
  const allowed = git === null ? 'none' : branchPatterns(git).join(', ');
  if (git !== null && isCommitName(name) && !name.startsWith('refs/') && mayShipBranch(name, git)) return null;
  return refuseArgumentByScope(
    'args',
    `"${name}" is not among the branches that hopgate.yaml allows (${allowed}).`,
    'Use one of these, or ask the operator to add it to git.branch, as in branch: [main, "agent/*"].',
  );
}

function pathsProblem(words: readonly string[], { root, mask }: GitRules): ArgumentRefusal | null {
  for (const word of words) {
    const located = locatePath(root, word);
    if (!located.ok) {
      const again = 'Give a path relative to the root, such as "src/main.ts".';
      return located.fault === 'outside'
        ? refuseArgumentByScope('args', `"${word}" is outside the root.`, again)
        : refuseArgument('args', `${located.why}.`, again);
    }
    if (isMaskedByConfig(located.path, mask))
      return refuseArgumentByScope('args', `"${word}" is masked in hopgate.yaml.`, 'Leave it out.');
    if (isGitInternal(located.path))
      return refuseArgumentByScope('args', `"${word}" belongs to git itself.`, 'Name files of the work tree.');
  }
  return null;
}
