import { z } from 'zod';
import { SpecNameSchema } from './name-schema.ts';

/** The authored form of `conditions.yaml`: entry conditions that the set defines itself. */
export const ConditionsFile = z
  .strictObject({
    conditions: z
      .record(SpecNameSchema, z.string().min(1).describe('A rule in CEL over the session facts.'))
      .describe('Each condition by its name; `tests-passed` is built in.'),
  })
  .describe('Entry conditions as rules in CEL.');
export type ConditionsFile = z.output<typeof ConditionsFile>;
