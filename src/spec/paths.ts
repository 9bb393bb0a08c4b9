import { z } from 'zod';

/** A root-relative folder or file, compared segment by segment. `.` is the root itself. */
export const RelativePath = z
  .string()
  .superRefine((path, context) => {
    const problem = relativePathProblem(path);
    if (problem) context.addIssue({ code: 'custom', message: `is not a path beneath the root: ${problem}` });
  })
  .meta({ pattern: '^(?![/~]|[A-Za-z]:)(?!(.*/)?\\.\\.(/|$))[^\\\\]*[^\\s\\\\][^\\\\]*$' });

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
