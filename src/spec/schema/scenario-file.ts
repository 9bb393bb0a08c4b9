import { optional, z } from 'zod';
import { type Fields, type Json, type Mode, PRINCIPALS, type Principal } from '../types.ts';
import { SpecNameSchema } from './name-schema.ts';

const Values = z.record(z.string(), z.json());
const By = z.enum(PRINCIPALS).optional().describe('The principal of the request; the agent if left out.');

const Expect = z
  .union([
    z.strictObject({ denied: SpecNameSchema.describe('The code of the expected denial.') }),
    z.strictObject({
      result: Values.describe('Parts of the result by key or dotted path (visit.steps); each must be equal.'),
    }),
  ])
  .describe('The expected outcome of the step: { denied: code } or { result: { … } }.');

const common = {
  say: z.string().min(1).optional().describe("A sentence that the scenario shows as the agent's thought."),
  approve: z.enum(['given', 'refused']).optional().describe("The operator's answer, for runs without a terminal."),
  expect: Expect.optional(),
};

const Step = z.union([
  z.strictObject({
    ...common,
    mode: z
      .union([
        SpecNameSchema,
        z.strictObject({
          to: SpecNameSchema.describe('The mode to enter.'),
          summary: z.string().optional().describe('What was done.'),
          reset: z.boolean().optional().describe("The operator's reset."),
          reason: z.string().optional().describe('Why.'),
          exitCriteria: z.string().optional().describe('The condition for leaving the new mode.'),
          by: By,
        }),
      ])
      .describe('Changes the mode.'),
  }),
  z.strictObject({
    ...common,
    start: z
      .union([
        SpecNameSchema,
        z.strictObject({
          peripheral: SpecNameSchema.describe('The peripheral to enter.'),
          context: Values.optional().describe('Context supplied by the caller, by field.'),
          by: By,
        }),
      ])
      .describe('Enters a peripheral.'),
  }),
  z.strictObject({
    ...common,
    step: z
      .strictObject({
        tool: SpecNameSchema.describe('The tool to call.'),
        args: optional(z.union([Values, z.array(z.json())])).describe(
          "The tool's arguments, by name or in positional order.",
        ),
      })
      .describe('Calls a tool.'),
  }),
  z.strictObject({
    ...common,
    hop: z
      .strictObject({
        to: SpecNameSchema.describe('The destination.'),
        exit: SpecNameSchema.optional().describe('The exit; inferred where only one opens the destination.'),
        reason: z.string().optional().describe('Why.'),
        fruit: Values.optional().describe('Stated fruit by field.'),
        by: By,
      })
      .describe('Leaves for another peripheral.'),
  }),
  z.strictObject({
    ...common,
    stop: z
      .union([
        z.string().min(1),
        z.strictObject({
          reason: z.string().min(1).describe('Why.'),
          fruit: Values.optional().describe('Stated fruit by field.'),
        }),
      ])
      .describe('Ends the visit: a reason, or { reason, fruit }.'),
  }),
  z.strictObject({
    ...common,
    close: z.union([z.literal(true), z.string().min(1)]).describe('Closes the session: true, or a reason.'),
  }),
]);

/** The authored form of `scenarios/*.yaml`: a chain as data, with modes, approvals and expected denials. */
export const ScenarioFile = z
  .strictObject({
    title: z.string().min(1).describe('The purpose of the scenario, in one sentence.'),
    agent: z.string().min(1).optional().describe("The agent's id; scripted if left out."),
    fixture: SpecNameSchema.optional().describe('The fixture repository to run in when no root is given.'),
    specs: z
      .string()
      .min(1)
      .optional()
      .describe('The spec set to run under; the spec set of the repository if left out.'),
    steps: z.array(Step).min(1).describe('The steps, in order; each has exactly one verb.'),
  })
  .describe('A scenario: a chain of steps as data.');
export type ScenarioFile = z.output<typeof ScenarioFile>;

export const SCENARIO_VERBS = ['mode', 'start', 'step', 'hop', 'stop', 'close'] as const;

/** The action of one step; absent optional values stay absent. */
export type ScenarioAction =
  | {
      readonly verb: 'mode';
      readonly to: Mode;
      readonly summary?: string;
      readonly reset?: boolean;
      readonly reason?: string;
      readonly exitCriteria?: string;
      readonly by?: Principal;
    }
  | { readonly verb: 'start'; readonly peripheral: string; readonly context?: Fields; readonly by?: Principal }
  | { readonly verb: 'step'; readonly tool: string; readonly args: Fields | readonly Json[] }
  | {
      readonly verb: 'hop';
      readonly to: string;
      readonly exit?: string;
      readonly reason?: string;
      readonly fruit?: Fields;
      readonly by?: Principal;
    }
  | { readonly verb: 'stop'; readonly reason: string; readonly fruit?: Fields }
  | { readonly verb: 'close'; readonly reason?: string };

export interface ScenarioStep {
  readonly action: ScenarioAction;
  readonly say: string | null;
  /** The operator's answer to an approval, for runs without a person; null if none is recorded. */
  readonly approve: 'given' | 'refused' | null;
  readonly expect: { readonly denied: string } | { readonly result: Fields } | null;
  readonly line: number | null;
}

/** A scenario, checked, with its short forms written out. */
export interface Scenario {
  readonly title: string;
  readonly agent: string;
  readonly fixture: string | null;
  readonly specs: string | null;
  readonly steps: readonly ScenarioStep[];
}
