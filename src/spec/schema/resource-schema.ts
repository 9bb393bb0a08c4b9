import { z } from 'zod';
import { resourceNameProblem } from '../policy/resource-names.ts';

/** A pattern of resources: `db:staging/*`, or an exclusion, `!db:staging/secrets`. */
const ResourcePattern = z
  .string()
  .superRefine((pattern, context) => {
    const named = pattern.replace(/^!/, '');
    const half = named.split('/').some((each) => each.includes('**') && each !== '**');
    const problem = half ? '** has to be a whole name, as in db:*/**' : resourceNameProblem(named.replaceAll('*', 'x'));
    if (problem) context.addIssue({ code: 'custom', message: `is not a pattern of resources: ${problem}` });
  })
  .meta({ pattern: '^!?[^\\s!?\\[\\]{}()\\\\%]+$' });

export const ResourcePatternsSchema = z
  .array(ResourcePattern)
  .min(1)
  .superRefine((patterns, context) => {
    if (patterns.length > 0 && patterns.every((pattern) => pattern.startsWith('!')))
      context.addIssue({ code: 'custom', message: 'only excludes; name the resources that are granted, too' });
  })
  .describe('Names of resources: * matches within a name, ** any number of names; !db:staging/secrets excludes.');
