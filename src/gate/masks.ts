import { picomatchLater } from './picomatch-later.ts';
import { plainMask } from './plain-mask.ts';

/** Holds the tokens of a remote: no file tool shows them, whatever the configuration masks. */
const CREDENTIAL_NAMES = new Set(['config', 'config.worktree', 'credentials']);

/** Names that no tool of an agent may write, at any depth: they steer git, shells, editors and agents. */
export const PROTECTED_NAMES = [
  '.git',
  '.gitconfig',
  '.gitmodules',
  '.husky',
  // agents
  '.claude',
  '.codex',
  '.mcp.json',
  '.cursor',
  '.cursorrules',
  '.windsurf',
  '.windsurfrules',
  '.gemini',
  '.opencode',
  '.clinerules',
  '.roo',
  '.continue',
  '.aider.conf.yml',
  // editors and debuggers
  '.vscode',
  '.idea',
  '.zed',
  '.devcontainer',
  '.exrc',
  '.nvimrc',
  '.nvim.lua',
  '.gdbinit',
  '.lldbinit',
  // shells and package managers
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.inputrc',
  '.envrc',
  '.ripgreprc',
  '.npmrc',
  '.yarnrc.yml',
  // the agent's own limits: whoever starts in that folder works by it
  'hopgate.yaml',
] as const;

const protectedNames: ReadonlySet<string> = new Set(PROTECTED_NAMES);

/**
 * Compiles `mask` patterns into a test of root-relative paths (`/` between segments). A pattern without a slash matches at any depth; one that
 * matches a folder masks everything beneath it; letter case never matters, because on some file systems it does not. The files where git keeps
 * credentials are always masked.
 *
 * @example
 * const masked = maskMatcher(['.env', 'secrets/', '**' + '/*.pem']);
 * masked('deploy/.env'); // true
 */
export function maskMatcher(patterns: readonly string[]): (relPath: string) => boolean {
  const masks = patterns.flatMap(anchored).map((glob) => ({ glob, plain: plainMask(glob) }));
  const plain = masks.flatMap(({ plain }) => plain ?? []);
  const globs = masks.flatMap(({ glob, plain }) => (plain ? [] : [glob, `${glob}/**`]));
  const matches =
    globs.length === 0 ? () => false : picomatchLater()(globs, { dot: true, nocase: true, nonegate: true });
  return (relPath) => {
    if (relPath === '') return false;
    const names = relPath.split('/');
    return isCredential(names) || plain.some((isMask) => isMask(names)) || matches(relPath);
  };
}

/** What git looks for in a folder before it takes it for a bare repository and obeys the `config` beside it. */
const MARK_OF_A_REPOSITORY = 'HEAD';

/** Whether a root-relative path is one that no tool of an agent may write, whatever its scope says. */
export function isProtected(relPath: string): boolean {
  const written = relPath.split('/');
  if (written.at(-1) === MARK_OF_A_REPOSITORY) return true;
  const names = written.map(foldName);
  return names.some((name) => protectedNames.has(name)) || isOwnPackage(names);
}

/** hopgate itself, installed in the repository that it guards: what answers the next hook. */
function isOwnPackage(names: readonly string[]): boolean {
  return names.some(
    (name, i) =>
      name === 'node_modules' &&
      (names[i + 1] === 'hopgate' || (names[i + 1] === '.bin' && names[i + 2] === 'hopgate')),
  );
}

/** Whether a root-relative path lies in, or is, a `.git`. */
export function isGitInternal(relPath: string): boolean {
  return relPath.split('/').some((name) => foldName(name) === '.git');
}

/** Whether git keeps credentials in a file of this name in a folder of its own, whatever that is called. */
export const isGitCredential = (name: string): boolean => CREDENTIAL_NAMES.has(foldName(name));

/** A pattern as a glob from the root; none if it says nothing. */
function anchored(pattern: string): string[] {
  const bare = pattern.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
  if (bare === '') return [];
  return [bare.includes('/') ? bare.replace(/^\/+/, '') : `**/${bare}`];
}

function isCredential(names: readonly string[]): boolean {
  const last = foldName(names.at(-1)!);
  return last === '.git-credentials' || (isGitCredential(last) && names.slice(0, -1).map(foldName).includes('.git'));
}

/** A name that every file system reads as it stands, but for the case of its letters. */
const PLAIN = /^[\w.-]*\w$/;

/** A name as the most forgiving file system reads it (letter case, ignorable characters, streams, trailing dots, the short name of `.git`). */
function foldName(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  const folded = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/(?<=[^. ])[. ]+$/, '');
  return /^git~\d+$/.test(folded) ? '.git' : folded;
}

const matchers = new WeakMap<readonly string[], (relPath: string) => boolean>();

/** Whether a root-relative path is masked by the config's patterns; the compiled patterns are kept by identity. */
export function isMasked(relPath: string, patterns: readonly string[]): boolean {
  let matches = matchers.get(patterns);
  if (!matches) {
    matches = maskMatcher(patterns);
    matchers.set(patterns, matches);
  }
  return matches(relPath);
}
