import { getOrInsert } from '../../base/get-or-insert.ts';
import { compileGlob, expandGlob } from '../../base/glob.ts';
import { isExcludingPattern, relativePathProblem } from '../../spec/path-patterns.ts';
import { isPathWithinAny } from './locate-path.ts';
import { compileMasks } from './masks.ts';

export const OUTSIDE_WRITE_PATHS_REASON = 'is outside the writable paths';

interface Writable {
  readonly globs: readonly ((path: string) => boolean)[];
  /** Tests of a folder: true if a write path could match something in it. */
  readonly reaches: readonly ((folder: string) => boolean)[];
  /** Tests of excluded paths, by exclusion. They compare as masks do, so that letter case cannot bypass them. */
  readonly excluded: ReadonlyMap<string, (path: string) => boolean>;
}

/**
 * Explains why the write paths of a scope do not grant a root-relative path, as a phrase that follows its name; null if
 * they grant it. A path without wildcards grants a file, or a folder with everything in it. A glob (`*.go`, `lib/*.c`)
 * grants the same for each file or folder that it matches; with a slash at its end, only for folders. Both are relative
 * to the root. An exclusion (`!dist/`, `!*.lock`) wins wherever it is in the list. It is written like a mask.
 *
 * @example
 * writePathReason('dist/a.js', ['.', '!dist/']); // 'is excluded from the writable paths (!dist/)'
 */
export function writePathReason(path: string, write: readonly string[]): string | null {
  const { globs, excluded } = compileWritePaths(write);
  for (const [exclusion, matches] of excluded)
    if (path !== '.' && matches(path)) return `is excluded from the writable paths (${exclusion})`;
  return globs.some((grant) => grant(path)) ? null : OUTSIDE_WRITE_PATHS_REASON;
}

/** False if the write paths grant nothing in a folder. If true, they may still grant nothing. */
export function mayHoldWritablePath(folder: string, write: readonly string[]): boolean {
  const { globs, reaches, excluded } = compileWritePaths(write);
  if ([...excluded.values()].some((matches) => matches(folder))) return false;
  return [...globs, ...reaches].some((test) => test(folder));
}

const compiledPaths = new WeakMap<readonly string[], Writable>();

const compileWritePaths = (write: readonly string[]): Writable =>
  getOrInsert(compiledPaths, write, () => {
    const granting = write.filter((pattern) => !isExcludingPattern(pattern));
    const excluding = write.filter(isExcludingPattern);
    return {
      globs: granting.map(compileWritePath),
      reaches: granting.map(compileFolderTest),
      excluded: new Map(excluding.map((pattern) => [pattern, compileMasks([pattern.slice(1)])])),
    };
  });

const WILD = /[*?[{(]/;

const namesOf = (pattern: string): readonly string[] =>
  pattern.split('/').filter((name) => name !== '' && name !== '.');

function compileWritePath(pattern: string): (path: string) => boolean {
  if (relativePathProblem(pattern) !== null) return () => false;
  if (!WILD.test(pattern)) return (path) => isPathWithinAny([pattern], path);
  const matches = compileGlob([...namesOf(pattern), ...(pattern.endsWith('/') ? ['*'] : []), '**'].join('/'));
  return (path) => path !== '.' && matches(path.split('/'));
}

/** Returns a test that compares a folder with the beginning of a pattern, up to its first `**`. */
function compileFolderTest(pattern: string): (folder: string) => boolean {
  const heads = expandGlob(namesOf(pattern).join('/')).map((each) => {
    const names = each.split('/');
    const spanning = names.indexOf('**');
    const head = spanning < 0 ? names : names.slice(0, spanning);
    return { globs: head.map((_, at) => compileGlob(head.slice(0, at + 1).join('/'))), spans: spanning >= 0 };
  });
  return (folder) => {
    const names = folder.split('/');
    return heads.some(({ globs, spans }) => {
      const length = Math.min(globs.length, names.length);
      if (length < names.length && !spans) return false;
      return length === 0 || globs[length - 1]!(names.slice(0, length));
    });
  };
}
