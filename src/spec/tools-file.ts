import { z } from 'zod';
import { Name } from './names.ts';
import { ARGUMENT_ROLES, TOOL_EFFECTS } from './types.ts';

const Parameter = z.strictObject({
  name: Name.describe('The argument’s name.'),
  role: z
    .enum(ARGUMENT_ROLES)
    .describe('What the argument is, so that the scope binds it: path:read, path:write, command, url or text.'),
  description: z.string().min(1).describe('What the agent has to put here.'),
  schema: z.record(z.string(), z.json()).optional().describe('JSON Schema of the value; { type: string } if left out.'),
  optional: z.boolean().optional().describe('The argument may be left out.'),
});

/** The authored form of `tools.yaml`: the catalogue of tools. */
export const ToolsFile = z
  .strictObject({
    tools: z
      .record(
        Name,
        z.strictObject({
          purpose: z.string().min(1).describe('One sentence that an agent reads: what the tool does.'),
          effect: z.enum(TOOL_EFFECTS).describe('observe looks, act changes the world, coordinate talks.'),
          parameters: z.array(Parameter).describe('In positional order.'),
          limits: z
            .strictObject({
              seconds: z.number().positive('must be more than 0').describe('How long one call may take.'),
              'output-bytes': z.int().positive('must be more than 0').describe('How much output is kept.'),
            })
            .describe('What one call may use.'),
        }),
      )
      .describe('Each tool by its name.'),
  })
  .describe('The catalogue of tools.');
export type ToolsFile = z.output<typeof ToolsFile>;
