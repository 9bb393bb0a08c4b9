import { GIT_CREDENTIALS, OWN_PACKAGES, PROTECTED_NAMES, REPOSITORY_MARK } from '../spec/policy/protected-names.ts';
import { picomatchLater } from './picomatch-later.ts';
import { plainMask } from './plain-mask.ts';

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

/** Whether a root-relative path is one that no tool of an agent may write, whatever its scope says. */
export function isProtected(relPath: string): boolean {
  const written = relPath.split('/');
  if (written.at(-1) === REPOSITORY_MARK) return true;
  const names = written.map(foldName);
  return names.some((name) => protectedNames.has(name)) || isOwnPackage(names);
}

const isOwnPackage = (names: readonly string[]): boolean =>
  OWN_PACKAGES.some((own) => names.some((_, at) => own.every((name, i) => names[at + i] === name)));

/** Whether a root-relative path lies in, or is, a `.git`. */
export function isGitInternal(relPath: string): boolean {
  return relPath.split('/').some((name) => foldName(name) === '.git');
}

/** Whether git keeps credentials in a file of this name in a folder of its own, whatever that is called. */
export const isGitCredential = (name: string): boolean => credentialNames.has(foldName(name));

/** A pattern as a glob from the root; none if it says nothing. */
function anchored(pattern: string): string[] {
  const bare = pattern.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
  if (bare === '') return [];
  return [bare.includes('/') ? bare.replace(/^\/+/, '') : `**/${bare}`];
}

const credentialNames: ReadonlySet<string> = new Set(GIT_CREDENTIALS.inGit);

function isCredential(names: readonly string[]): boolean {
  const last = foldName(names.at(-1)!);
  return (
    last === GIT_CREDENTIALS.anywhere || (isGitCredential(last) && names.slice(0, -1).map(foldName).includes('.git'))
  );
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
