import { optional, z } from 'zod';
import { TOOL_EFFECTS } from '../types.ts';
import { SpecNameSchema } from './name-schema.ts';

const ModeRule = z.strictObject({
  effects: z.array(z.enum(TOOL_EFFECTS)).describe('The tool effects that this mode allows.'),
  peripherals: optional(z.array(SpecNameSchema)).describe(
    'The peripherals that may be entered in this mode; any if left out.',
  ),
});

/** The authored form of `gate.yaml`: the mode gate. */
export const GateFile = z
  .strictObject({
    initial: SpecNameSchema.describe('The mode in which a session opens.'),
    modes: z
      .record(SpecNameSchema, ModeRule)
      .describe('Each mode by its name, with the effects and the peripherals that it allows.'),
    transitions: z
      .array(
        z.strictObject({
          from: SpecNameSchema.describe('The mode before the change.'),
          to: SpecNameSchema.describe('The mode after the change.'),
          approval: z.literal('operator').optional().describe('The operator must approve the change.'),
          summary: z.boolean().optional().describe('The request for the change needs a summary.'),
        }),
      )
      .describe('Every allowed change of mode; any other is refused.'),
    reset: SpecNameSchema.describe("The mode that the operator's reset and the timeout lead to, from any mode."),
    'timeout-minutes': optional(z.number().positive('must be more than 0')).describe(
      'Minutes without a step after which the mode is reset; never if left out.',
    ),
  })
  .describe('The mode gate.');
export type GateFile = z.output<typeof GateFile>;
