import { getOrInsert } from '../../base/get-or-insert.ts';
import { compileGlob, compileGlobAlternatives, expandGlob, type Glob } from '../../base/glob.ts';
import { BACKUP_NAME_AFFIXES } from '../../spec/policy/default-masks.ts';
import {
  GIT_CREDENTIAL_FILES,
  GIT_HEAD_FILE,
  HOPGATE_PACKAGE_PATHS,
  PROTECTED_FILE_NAMES,
} from '../../spec/policy/protected-names.ts';

const protectedNames: ReadonlySet<string> = new Set(PROTECTED_FILE_NAMES);

/** One pattern of the masked paths; an exception begins with `!`. */
interface Mask {
  readonly excepts: boolean;
  readonly glob: string;
  /** Test of a whole path, and of a path's last name; each is absent until the first path needs it. */
  matches?: Glob;
  mayEndWith?: (name: string) => boolean;
}

/** The maximum number of cached names. Walks through folders and git's history ask for the same names repeatedly. */
const CACHE_SIZE = 4096;

/** Caches the results of a function; a full cache is emptied. */
function cacheResults<T>(compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const cached = results.get(text);
    if (cached !== undefined) return cached;
    const result = compute(text);
    if (results.size >= CACHE_SIZE) results.clear();
    results.set(text, result);
    return result;
  };
}

/**
 * Compiles `mask` patterns into a test of root-relative paths (`/` between segments). A pattern without a slash matches
 * at any depth. A pattern that matches a folder masks everything in the folder. A pattern with `!` excepts paths from
 * the patterns before it, but not inside a masked folder. Letter case, streams and trailing dots never matter, because
 * some file systems ignore them. A backup copy is masked if its original is. The files where git keeps credentials are
 * always masked.
 *
 * @example
 * const masked = compileMasks(['.env', 'secrets/', '**' + '/*.pem', '!test/fixtures']);
 * masked('deploy/.env'); // true
 */
export function compileMasks(patterns: readonly string[]): (relPath: string) => boolean {
  const masks = patterns.flatMap((pattern): Mask[] => {
    const excepts = pattern.startsWith('!');
    const glob = anchorPattern(foldPattern(excepts ? pattern.slice(1) : pattern));
    return glob === null ? [] : [{ excepts, glob }];
  });
  const mayBeMasked = lastNameTest(masks.flatMap(({ excepts, glob }) => (excepts ? [] : expandGlob(glob))));
  /** Returns the spellings of a file's name, and the masks that can match one of them; null if no mask can. */
  const maskable = cacheResults((name) => {
    const spellings = spellingsOf(name);
    if (!spellings.some(mayBeMasked)) return null;
    return { spellings, masks: masks.filter((mask) => mask.excepts || spellings.some(lastNameOf(mask))) };
  });
  const isMaskedPath: (path: string) => boolean = cacheResults((path) => {
    const slash = path.lastIndexOf('/');
    if (slash > 0 && isMaskedPath(path.slice(0, slash))) return true;
    const found = maskable(path.slice(slash + 1));
    return found !== null && masksPath(found.masks, path, found.spellings);
  });
  return (relPath) => relPath !== '' && (isCredential(relPath) || isMaskedPath(relPath));
}

/** True if the last pattern that matches a path masks it. For parent folders, only exceptions are checked. */
function masksPath(masks: readonly Mask[], path: string, spellings: readonly string[]): boolean {
  const written = path.split('/').map((name) => name.toLowerCase());
  const parents = path.split('/').slice(0, -1).map(foldName);
  const forms = [written, ...spellings.map((name) => [...parents, name])];
  let masked = false;
  for (const mask of masks) {
    if (mask.excepts !== masked) continue;
    const { excepts, matches = compileGlob(mask.glob) } = mask;
    mask.matches = matches;
    masked = excepts ? !written.some((_, at) => matches(written.slice(0, at + 1))) : forms.some(matches);
  }
  return masked;
}

function lastNameOf(mask: Mask): (name: string) => boolean {
  mask.mayEndWith ??= lastNameTest(expandGlob(mask.glob));
  return mask.mayEndWith;
}

/** Returns a quick test: false if a name cannot be the last name of a path that one of the globs matches. */
function lastNameTest(globs: readonly string[]): (name: string) => boolean {
  const lasts = [...new Set(globs.map((glob) => glob.slice(glob.lastIndexOf('/') + 1)))];
  if (lasts.includes('**')) return () => true;
  const names = new Set(lasts.filter((last) => !/[*?[(]/.test(last)));
  const isEnding = (last: string) => /^\*\.[^*?[(.]+$/.test(last);
  const endings = new Set(lasts.filter(isEnding).map((last) => last.slice(2)));
  const others = lasts
    .filter((last) => !names.has(last) && !isEnding(last))
    .map((last) => compileGlobAlternatives([last]));
  return (name) =>
    names.has(name) || endings.has(name.slice(name.lastIndexOf('.') + 1)) || others.some((test) => test([name]));
}

/**
 * The spellings of a file's name that masks test: in lower case, folded by {@link foldName}, and, for a backup, the
 * name of its original.
 */
function spellingsOf(name: string): readonly string[] {
  if (PLAIN.test(name) && !IS_BACKUP.test(name)) return [name.toLowerCase()];
  const folded = foldName(name);
  const spellings = new Set([name.toLowerCase(), folded]);
  for (const original of originalsOf(folded)) {
    spellings.add(original);
    for (const first of originalsOf(original)) spellings.add(first);
  }
  return [...spellings];
}

function originalsOf(name: string): readonly string[] {
  if (!IS_BACKUP.test(name)) return [];
  return BACKUP_NAME_AFFIXES.filter(
    ([before, after]) => name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after),
  ).map(([before, after]) => name.slice(before.length, name.length - after.length));
}

/** A quick test: false for most names of files that are not backups. */
const IS_BACKUP = /[~#]$|^\.[#~]|\.[a-z-]{3,8}$/;

/** True if no tool of an agent may write a root-relative path, in any scope. */
export function isWriteProtected(relPath: string): boolean {
  const written = relPath.split('/');
  if (written.at(-1) === GIT_HEAD_FILE) return true;
  const names = written.map(foldName);
  return names.some((name) => protectedNames.has(name)) || isOwnPackage(names);
}

const isOwnPackage = (names: readonly string[]): boolean =>
  HOPGATE_PACKAGE_PATHS.some((own) => names.some((_, at) => own.every((name, i) => names[at + i] === name)));

/** True if a root-relative path is a `.git` or lies in one. */
export const isGitInternal = (relPath: string): boolean => relPath.split('/').some((name) => foldName(name) === '.git');

/** True if git keeps credentials in a file of this name, whatever the name of git's folder. */
export const isGitCredential = (name: string): boolean =>
  spellingsOf(name).some((spelling) => (GIT_CREDENTIAL_FILES.inGit as readonly string[]).includes(spelling));

/** Converts a mask pattern to a glob for paths from the root; null if the pattern is empty. */
function anchorPattern(pattern: string): string | null {
  const bare = pattern.replace(/^(\.\/)+/, '').replace(/(?<!\/)\/+$/, '');
  if (bare === '') return null;
  return bare.includes('/') ? bare.replace(/^\/+/, '') : `**/${bare}`;
}

const gitCredentials: ReadonlySet<string> = new Set([GIT_CREDENTIAL_FILES.anywhere, ...GIT_CREDENTIAL_FILES.inGit]);

function isCredential(relPath: string): boolean {
  const spellings = spellingsOf(relPath.slice(relPath.lastIndexOf('/') + 1)).filter((name) => gitCredentials.has(name));
  return (
    spellings.length > 0 &&
    (spellings.includes(GIT_CREDENTIAL_FILES.anywhere) ||
      relPath.split('/').slice(0, -1).map(foldName).includes('.git'))
  );
}

/** A name that every file system reads unchanged, except for letter case. */
const PLAIN = /^[\w.-]*\w$/;

/** A name as the most lenient file system reads it (case, ignorable characters, streams, trailing dots, `git~1`). */
function foldName(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  const folded = foldPattern(name)
    .replace(/:.*/s, '')
    .replace(/(?<=[^. ])[. ]+$/, '');
  return /^git~\d+$/.test(folded) ? '.git' : folded;
}

/** The letters of a pattern as the most lenient file system reads them. */
const foldPattern = (text: string): string => (ASCII.test(text) ? text : foldUnicode(text)).toLowerCase();
const ASCII = /^[\x20-\x7e]*$/;
// A function of its own, because V8 looks up the characters of `\p` when it first compiles the function around it.
const foldUnicode = (text: string): string => text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');

const matchers = new WeakMap<readonly string[], (relPath: string) => boolean>();

/** True if the config's patterns mask a root-relative path; compiled patterns are cached by identity. */
export function isMaskedByConfig(relPath: string, patterns: readonly string[]): boolean {
  return getOrInsert(matchers, patterns, () => compileMasks(patterns))(relPath);
}
