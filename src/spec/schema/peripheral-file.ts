import { optional, z } from 'zod';
import { CallGates } from './call-gates-schema.ts';
import { FieldTypeSchema } from './field-type.ts';
import { SpecNameSchema } from './name-schema.ts';
import { WritePathsSchema } from './path-schema.ts';
import { ResourcePatternsSchema } from './resource-schema.ts';

const Cel = z.string().min(1).describe('A rule in CEL over the facts of the session. Write _ for each - in a name.');

const Destination = z.union([
  SpecNameSchema,
  z.strictObject({
    to: SpecNameSchema.describe('The peripheral that this exit opens.'),
    when: Cel.optional().describe('The exit opens the peripheral only while this CEL rule holds.'),
  }),
]);

const ExitOpens = z
  .union([Destination, z.array(Destination).min(1)])
  .describe('The destinations that this exit opens: a peripheral, { to, when }, or a list of these.');

const FruitField = z.union([
  z.strictObject({
    observed: FieldTypeSchema.describe("The type; the value is computed from the session's observations."),
    from: optional(z.string()).describe(
      'The observation that gives the value; if left out, the observation with the name of the field.',
    ),
  }),
  z.strictObject({
    stated: FieldTypeSchema.describe('Type of the field. The agent supplies the value, and hopgate checks its type.'),
    optional: z.boolean().optional().describe('The agent may omit the field.'),
  }),
]);

const ContextSource = z
  .string()
  .min(1)
  .describe('The source of the field: inherit, from-<peripheral>, fetch-from-musn, or resumable.');

const GateRule = z.union([
  z.strictObject({ approval: z.literal('operator').describe('The operator must approve the hop.') }),
  z.strictObject({ when: Cel.describe('A CEL rule that must hold.') }),
  z.strictObject({
    pattern: SpecNameSchema.describe('The name of the pattern that the gate demands.'),
    is: z.enum(['selected', 'held']).describe('selected: chosen in this session; held: its last outcome was good.'),
  }),
]);

const DelegateItem = z.union([
  SpecNameSchema,
  z.strictObject({
    to: SpecNameSchema.describe('The peripheral in which a sub-agent may start.'),
    within: optional(z.enum(['parent', 'own'])).describe(
      'parent (default): the sub-agent may do what both peripherals allow; own: what the named peripheral allows.',
    ),
  }),
  z.strictObject({
    agency: SpecNameSchema.describe('The agency peripheral in which an agent of the agency may run.'),
    within: optional(z.enum(['parent', 'own'])).describe(
      'parent (default): an agent may run only if the agency peripheral switches no tools on; own: it gets the tools that are on.',
    ),
  }),
]);

/** The authored form of `peripherals/<id>.yaml`. */
export const PeripheralFile = z
  .strictObject({
    id: SpecNameSchema.describe("The peripheral's name, which is also the name of its file."),
    purpose: z.string().min(1).describe('One sentence for the agent about its work here.'),
    tools: z.array(SpecNameSchema).describe('The tools of the peripheral, by their name in tools.yaml.'),
    scope: z
      .union([
        SpecNameSchema.describe('A scope by its name in scopes.yaml.'),
        z.strictObject({
          paths: WritePathsSchema.min(1)
            .describe(
              'Folders, files and globs that may be written, relative to the root, and exclusions (!dist/); all of the root may be read.',
            )
            .optional(),
          resource: ResourcePatternsSchema.optional(),
        }),
      ])
      .describe('The limits of the tools: the name of a scope, { paths }, { resource }, or { paths, resource }.'),
    entry: z
      .union([SpecNameSchema, z.array(SpecNameSchema).min(1)])
      .describe(
        'Sources, of which one must apply (default, from-<peripheral>, from-any, user-request, agent-request, session-close), and conditions, which must all hold (tests-passed, and those of conditions.yaml).',
      ),
    exit: z
      .union([z.record(SpecNameSchema, ExitOpens), z.array(SpecNameSchema), SpecNameSchema])
      .describe('Each exit with the destinations that it opens. A plain list of names leaves the exits unbound.'),
    context: optional(
      z.record(
        SpecNameSchema,
        z.union([
          ContextSource,
          z.strictObject({
            take: ContextSource,
            optional: z.boolean().optional().describe('The peripheral may be entered without this field.'),
          }),
        ]),
      ),
    ).describe('The context on entry, by field; required unless optional.'),
    fruit: optional(z.record(SpecNameSchema, FruitField)).describe(
      'The fruit of a visit, by field: observed or stated.',
    ),
    calls: optional(z.record(SpecNameSchema, CallGates)).describe(
      'By tool: requirements of each call here, in addition to those in tools.yaml.',
    ),
    gates: optional(z.record(SpecNameSchema, z.array(GateRule).min(1))).describe(
      'By destination: additional requirements for any exit to it.',
    ),
    delegates: optional(z.array(DelegateItem)).describe(
      'The peripherals in which sub-agents may start: names, { to, within }, or { agency, within }.',
    ),
    limits: optional(
      z.strictObject({
        steps: z.int().positive('must be more than 0').optional().describe('Maximum number of steps in one visit.'),
        minutes: z.number().positive('must be more than 0').optional().describe('Maximum minutes of one visit.'),
      }),
    ).describe('The limits of a visit. At a limit, only a stop and allowed hops remain possible.'),
    agents: z.array(z.string().min(1)).min(1).optional().describe('Agent ids that may enter; any if left out.'),
    config: z.record(z.string(), z.json()).optional().describe('Settings for tool backends; the gate ignores them.'),
    output: z
      .record(z.string(), z.json())
      .optional()
      .describe('The destination of the fruit; the gate ignores this key.'),
  })
  .describe('A peripheral: its tools, their scope, its entry and its exits.');
export type PeripheralFile = z.output<typeof PeripheralFile>;
