import { z } from 'zod';

export const CallGates = z
  .array(
    z.union([
      z.strictObject({
        approval: z.literal('operator').describe('The operator must approve each call, with its arguments.'),
      }),
      z.strictObject({ when: z.string().min(1).describe('A CEL rule that must hold; args holds the arguments.') }),
    ]),
  )
  .min(1);
export type CallGates = z.output<typeof CallGates>;
