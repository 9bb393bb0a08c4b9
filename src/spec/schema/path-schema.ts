import { z } from 'zod';
import { isExcludingPattern, relativePathProblem, writePathProblem } from '../path-patterns.ts';
import { MAX_MASK_LENGTH, MAX_MASKS } from '../policy/limits.ts';

/** Returns a refinement of a text schema, which reports the problem that `problemOf` finds, after `prefix`. */
export const reportProblem =
  (problemOf: (text: string) => string | null, prefix = '') =>
  (text: string, context: z.RefinementCtx) => {
    const problem = problemOf(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: `${prefix}${problem}` });
  };

/** A root-relative folder or file, compared segment by segment. `.` is the root itself. */
export const RelativePathSchema = z
  .string()
  .superRefine(reportProblem(relativePathProblem, 'is not a path inside the root: '))
  .meta({ pattern: '^(?![/~]|[A-Za-z]:)(?!(.*/)?\\.\\.(/|$))[^\\\\]*[^\\s\\\\][^\\\\]*$' });

/** A write path of a scope: a file, a folder or a glob, relative to the root, or an exclusion (`!dist/`). */
const WritePath = z
  .string()
  .max(MAX_MASK_LENGTH, `is longer than ${MAX_MASK_LENGTH} characters`)
  .superRefine(reportProblem(writePathProblem))
  .meta({ pattern: '^(?:!/?)?(?![!/~]|[A-Za-z]:)(?!(.*/)?\\.\\.(/|$))[^\\\\]*[^\\s\\\\][^\\\\]*$' });

export const WritePathsSchema = z
  .array(WritePath)
  .max(MAX_MASKS, `has more than ${MAX_MASKS} paths`)
  .refine(
    (paths) => paths.length === 0 || paths.some((path) => !isExcludingPattern(path)),
    'only excludes; put "." first to write everywhere else',
  );
