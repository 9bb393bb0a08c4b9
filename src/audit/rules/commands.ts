import { BRANCH_COMMANDS } from '../../spec/policy/closed-lists.ts';
import type { Json, ProjectConfig, ScopeRule } from '../../spec/types.ts';
import { isConfiguredBranch } from './branches.ts';

/** The words of a plain command line: blanks separate, quotes join. Null if it has any other shell syntax. */
export function auditedWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let index = 0; index < text.length; index++) {
    const char = text[index]!;
    if (quote !== null) {
      if (char === quote) quote = null;
      else if (quote === '"' && char === '\\' && '"\\$`'.includes(text[index + 1] ?? ' '))
        word = (word ?? '') + text[++index]!;
      else word = (word ?? '') + char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= '';
    } else if (char === '\\' && index + 1 < text.length) word = (word ?? '') + text[++index]!;
    else if (char === ' ' || char === '\t' || char === '\n') {
      if (word !== null) words.push(word);
      word = null;
    } else if ('|&;<>()$`'.includes(char)) return null;
    else word = (word ?? '') + char;
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  return words;
}

/** The words of an argument that is a list of words or a text. */
export function argumentWords(value: Json | undefined): readonly string[] | null {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return auditedWords(value);
  return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : null;
}

const MARK = '{args}';

/** The configured test command that words spell; `narrowed` when arguments were added. */
export function configuredTest(
  words: readonly string[],
  tests: ProjectConfig['test'],
): { readonly narrowed: boolean } | null {
  for (const { run } of tests) {
    const at = run.indexOf(MARK);
    const plain = run.filter((word) => word !== MARK);
    if (spells(words, plain) || spells(words, wholeTest(run))) return { narrowed: false };
    if (at < 0 || words.length < plain.length) continue;
    const tail = plain.slice(at);
    const begins = plain.slice(0, at).every((word, i) => word === words[i]);
    const ends = tail.every((word, i) => word === words[words.length - tail.length + i]);
    if (begins && ends) return { narrowed: true };
  }
  return null;
}

/** A configured test command without arguments. A `--` that only announces them goes where they go. */
export const wholeTest = (run: readonly string[]): readonly string[] =>
  run.filter((word, index) => word !== MARK && !(word === '--' && run[index + 1] === MARK));

const spells = (words: readonly string[], command: readonly string[]): boolean =>
  words.length === command.length && command.every((word, i) => word === words[i]);

const GIT_WORK = ['status', 'diff', 'log', 'show', 'branch', 'rev-parse', 'add', 'restore', 'commit', 'push'].concat([
  'switch',
  'checkout',
]);
const GIT_FORCE =
  /^(?:-f|--force.*|--delete|-d|-D|--mirror|--prune|--receive-pack.*|--exec.*|--amend|--no-verify|\+.*)$/;

type Args = { readonly [name: string]: Json };

/**
 * The reason why a scope does not let a command run, by the commands that the configuration names.
 * @returns null if it may run; `unjudged` if it is neither git nor a configured command
 */
export function commandProblem(
  command: ScopeRule['command'],
  tool: string,
  args: Args,
  config: ProjectConfig,
): string | null | 'unjudged' {
  if (tool === 'bash-deploy' && command !== 'deploy') return 'deploy commands run only where the scope ships';
  if (tool === 'install')
    return command === 'contained' ? installProblem(args, config) : 'it runs only where commands write';
  switch (command) {
    case 'none':
      return 'this scope runs no commands';
    case 'read-only':
    case 'contained':
      return null;
    case 'test':
      return testProblem(args, config);
    case 'deploy':
      if (tool === 'bash-git') return gitProblem(args, config);
      if (tool === 'bash-deploy') return deployProblem(args, config);
      return 'unjudged';
    default:
      return command satisfies never;
  }
}

function testProblem({ command }: Args, { test }: ProjectConfig): string | null {
  if (test.length === 0) return 'no test command is configured';
  if (command === undefined || command === null) return null;
  const words = argumentWords(command);
  return words !== null && configuredTest(words, test) ? null : 'it is not one of the configured test commands';
}

function installProblem({ command }: Args, { install = [] }: ProjectConfig): string | null {
  if (command === undefined || command === null)
    return install.length === 1 ? null : 'it is none of the configured install commands';
  const words = argumentWords(command);
  const isConfigured = words !== null && install.some(({ run }) => spells(words, run));
  return isConfigured ? null : 'it is none of the configured install commands';
}

function deployProblem({ name }: Args, { deploy }: ProjectConfig): string | null {
  return typeof name === 'string' && Object.hasOwn(deploy, name)
    ? null
    : 'it is not one of the configured deploy commands';
}

function gitProblem({ sub, args }: Args, { git }: ProjectConfig): string | null {
  const head = argumentWords(sub);
  const tail = argumentWords(args);
  if (head === null || tail === null) return 'it is not one plain git command';
  const words = [...head, ...tail];
  const [name, ...rest] = words[0] === 'git' ? words.slice(1) : words;
  if (name === undefined || !GIT_WORK.includes(name)) return `git ${name ?? ''} is not among ${GIT_WORK.join(', ')}`;
  const places = rest.filter((word) => !word.startsWith('-'));
  if (BRANCH_COMMANDS.includes(name)) return branchProblem(name, rest, git);
  if (name !== 'push') return null;
  const force = rest.find((word) => GIT_FORCE.test(word));
  if (force) return `git push ${force} may undo what others did`;
  if (git === null) return 'no remote is configured to push to';
  const [remote = git.remote, branch = 'HEAD'] = places;
  // Without a name, the result names the branch.
  return remote === git.remote && (branch === 'HEAD' || isConfiguredBranch(branch, git))
    ? null
    : `it pushes ${branch} to ${remote}, not ${[git.branch].flat().join(' or ')} to ${git.remote}`;
}

/** A branch that is created or switched to has to be a configured one. */
function branchProblem(sub: string, rest: readonly string[], git: ProjectConfig['git']): string | null {
  const force = rest.find((word) => GIT_FORCE.test(word));
  if (force) return `git ${sub} ${force} may undo what others did`;
  const attached = rest.flatMap((word) => /^(?:--create=|-[cb])(.+)$/.exec(word)?.[1] ?? []);
  const branch = [...attached, ...rest.filter((word) => !word.startsWith('-'))][0];
  if (branch === undefined) return null;
  return git !== null && isConfiguredBranch(branch, git) ? null : `${branch} is not a configured branch`;
}
