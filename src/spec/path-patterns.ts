import { globProblem } from '../base/glob.ts';

/** True if an entry of a scope's write paths excludes paths from the others. */
export const isExcludingPattern = (pattern: string): boolean => pattern.startsWith('!');

/** Returns the reason why a text cannot be a write path; null if it can. */
export function writePathProblem(pattern: string): string | null {
  const path = isExcludingPattern(pattern) ? pattern.slice(1).replace(/^\//, '') : pattern;
  if (isExcludingPattern(path)) return 'has more than one !; an exclusion always wins, wherever it is in the list';
  const problem = relativePathProblem(path);
  if (problem !== null) return `is not a path inside the root: ${problem}`;
  if (isExcludingPattern(pattern) && path.replace(/[./]+/g, '') === '') return 'excludes everything';
  return globProblem(path);
}

/** Returns the reason why a text cannot be a path inside the root; null if it can. */
export function relativePathProblem(path: string): string | null {
  if (path.trim() === '') return 'it is empty';
  if (path.includes('\0')) return 'it contains a NUL character';
  if (path.includes('\\')) return 'it contains a backslash; use /';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'it is absolute; write it relative to the root';
  if (path.startsWith('~')) return 'it starts with ~; write it relative to the root';
  if (path.split('/').includes('..')) return 'it contains ..';
  return null;
}
