import { z } from 'zod';
import { globProblem } from '../base/glob.ts';
import { MAX_MASK_LENGTH, MAX_MASKS } from './policy/limits.ts';

/** A root-relative folder or file, compared segment by segment. `.` is the root itself. */
export const RelativePath = z
  .string()
  .superRefine((path, context) => {
    const problem = relativePathProblem(path);
    if (problem) context.addIssue({ code: 'custom', message: `is not a path inside the root: ${problem}` });
  })
  .meta({ pattern: '^(?![/~]|[A-Za-z]:)(?!(.*/)?\\.\\.(/|$))[^\\\\]*[^\\s\\\\][^\\\\]*$' });

/** A write path of a scope: a file, a folder or a glob, relative to the root, or an exclusion (`!dist/`). */
const WritePath = z
  .string()
  .max(MAX_MASK_LENGTH, `is longer than ${MAX_MASK_LENGTH} characters`)
  .superRefine((pattern, context) => {
    const problem = writePathProblem(pattern);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ pattern: '^(?:!/?)?(?![!/~]|[A-Za-z]:)(?!(.*/)?\\.\\.(/|$))[^\\\\]*[^\\s\\\\][^\\\\]*$' });

/** The write paths of a scope. */
export const WritePaths = z
  .array(WritePath)
  .max(MAX_MASKS, `has more than ${MAX_MASKS} paths`)
  .superRefine((paths, context) => {
    if (paths.length > 0 && paths.every(isExclusion))
      context.addIssue({ code: 'custom', message: 'only excludes; put "." first to write everywhere else' });
  });

/** True if an entry of a scope's write paths excludes paths from the others. */
export const isExclusion = (pattern: string): boolean => pattern.startsWith('!');

function writePathProblem(pattern: string): string | null {
  const path = isExclusion(pattern) ? pattern.slice(1).replace(/^\//, '') : pattern;
  if (isExclusion(path)) return 'has more than one !; an exclusion always wins, wherever it is in the list';
  const problem = relativePathProblem(path);
  if (problem !== null) return `is not a path inside the root: ${problem}`;
  if (isExclusion(pattern) && path.replace(/[./]+/g, '') === '') return 'excludes everything';
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
