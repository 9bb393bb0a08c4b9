import { optional, z } from 'zod';
import { ARGUMENT_ROLES, TOOL_EFFECTS } from '../types.ts';
import { CallGates } from './call-gates-schema.ts';
import { FieldTypeSchema } from './field-type.ts';
import { SpecNameSchema } from './name-schema.ts';

const Parameter = z.strictObject({
  name: SpecNameSchema.describe("The argument's name."),
  role: z
    .enum(ARGUMENT_ROLES)
    .describe(
      "The argument's role, by which the scope restricts it: path:read, path:write, command, url, resource, agency or text.",
    ),
  description: z.string().min(1).describe('A description of the value, for the agent.'),
  schema: z.record(z.string(), z.json()).optional().describe('JSON Schema of the value; { type: string } if left out.'),
  optional: z.boolean().optional().describe('The agent may omit the argument.'),
  as: z.string().min(1).optional().describe("The upstream's name of the argument, if it differs."),
});

const Upstream = z.strictObject({
  server: SpecNameSchema.describe("The server's name under upstream in hopgate.yaml."),
  tool: z.string().min(1).describe("The tool's name on that server."),
  'schema-hash': optional(
    z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'is not a sha256: 64 hexadecimal digits, as "hopgate upstream import" prints them'),
  ).describe("Hash of the tool's description and schema; if they change, the tool is refused."),
  folders: optional(z.enum(['contents', 'names'])).describe(
    "The tool's access to a folder: contents (reaches everything inside; the default) or names (shows or creates names only).",
  ),
});

/** The authored form of `tools.yaml`: the catalogue of tools. */
export const ToolsFile = z
  .strictObject({
    tools: z
      .record(
        SpecNameSchema,
        z.strictObject({
          purpose: z.string().min(1).describe('One sentence for the agent about the work of the tool.'),
          effect: z
            .enum(TOOL_EFFECTS)
            .describe(
              'observe looks, act changes the world, coordinate talks, simulate changes only a world that the session owns.',
            ),
          parameters: z.array(Parameter).describe('In positional order.'),
          limits: z
            .strictObject({
              seconds: z.number().positive('must be more than 0').describe('The time limit of one call.'),
              'output-bytes': z
                .int()
                .positive('must be more than 0')
                .describe('The maximum amount of output that is kept.'),
            })
            .describe('The limits of one call.'),
          upstream: Upstream.optional().describe('The tool of an MCP server that does the work.'),
          gates: CallGates.optional().describe('Requirements of each call, in addition to the limits of the scope.'),
          observes: optional(z.record(SpecNameSchema, FieldTypeSchema)).describe(
            'The fields that the backend reports with an outcome, by name: a type, or the list of values.',
          ),
          state: optional(z.record(SpecNameSchema, FieldTypeSchema)).describe(
            'The fields of session state that the backend keeps in the backpack, by name with their type.',
          ),
        }),
      )
      .default({})
      .describe('Each tool by its name.'),
    everywhere: optional(z.array(SpecNameSchema)).describe(
      'The tools that every peripheral of this set has in addition to its own. They must only coordinate.',
    ),
  })
  .describe('The catalogue of tools.');
export type ToolsFile = z.output<typeof ToolsFile>;
