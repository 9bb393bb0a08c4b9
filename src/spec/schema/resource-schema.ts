import { z } from 'zod';
import { resourceNameProblem } from '../policy/resource-names.ts';
import { reportProblem } from './path-schema.ts';

/** A pattern of resources: `db:staging/*`, or an exclusion, `!db:staging/secrets`. */
const ResourcePattern = z
  .string()
  .superRefine(
    reportProblem((pattern) => {
      const named = pattern.replace(/^!/, '');
      const half = named.split('/').some((each) => each.includes('**') && each !== '**');
      return half ? '** has to be a whole name, as in db:*/**' : resourceNameProblem(named.replaceAll('*', 'x'));
    }, 'is not a pattern of resources: '),
  )
  .meta({ pattern: '^!?[^\\s!?\\[\\]{}()\\\\%]+$' });

export const ResourcePatternsSchema = z
  .array(ResourcePattern)
  .min(1)
  .refine(
    (patterns) => patterns.length === 0 || patterns.some((pattern) => !pattern.startsWith('!')),
    'only excludes; name the resources that are granted, too',
  )
  .describe('Names of resources: * matches within a name, ** any number of names; !db:staging/secrets excludes.');
