import { z } from 'zod';
import { isExcludingPattern, relativePathProblem, writePathProblem } from '../path-patterns.ts';
import { MAX_MASK_LENGTH, MAX_MASKS } from '../policy/limits.ts';

/** A root-relative folder or file, compared segment by segment. `.` is the root itself. */
export const RelativePathSchema = z
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

export const WritePathsSchema = z
  .array(WritePath)
  .max(MAX_MASKS, `has more than ${MAX_MASKS} paths`)
  .superRefine((paths, context) => {
    if (paths.length > 0 && paths.every(isExcludingPattern))
      context.addIssue({ code: 'custom', message: 'only excludes; put "." first to write everywhere else' });
  });
