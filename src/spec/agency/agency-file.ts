import { z } from 'zod';
import { SpecNameSchema } from '../schema/name-schema.ts';
import { AGENCY_SWITCHES, CONTEXT_BLOCK_KINDS, DRIVER_KINDS } from './agency-types.ts';

const InputName = z.string().regex(/^[a-z][\w.-]*(?:\/[a-z][\w.-]*)?$/i, "is not an input's name, such as par/title");
const Millis = z.int().positive('must be more than 0').max(86_400_000);

export const AgencyPeripheralFile = z.strictObject({
  id: SpecNameSchema,
  entry: z.string().min(1).describe('The purpose in a sentence.'),
  inputs: z.array(InputName).describe('The names of the inputs; all are required.'),
  'prompt-template': z.string().min(1).describe('The prompt, with {{input}} for each input.'),
  response: z
    .strictObject({
      type: z.enum(['text', 'json']),
      field: z.literal('response').optional(),
      schema: z.record(z.string(), z.json()).optional(),
    })
    .describe('The form of the answer: { type: text }, or { type: json, schema }.'),
  tools: z.strictObject(Object.fromEntries(AGENCY_SWITCHES.map((key) => [key, z.boolean().optional()]))).optional(),
  context: z.array(z.enum(CONTEXT_BLOCK_KINDS)).optional(),
  'timeout-ms': Millis.optional(),
  retries: z.int().min(0).max(5).optional(),
});
export type AgencyPeripheralFile = z.output<typeof AgencyPeripheralFile>;

export const AgencyAgentFile = z.strictObject({
  location: z.enum(['local', 'remote', 'dial-in']),
  driver: z.enum(DRIVER_KINDS).optional(),
  url: z.url({ protocol: /^https?$/, error: 'is not an http address' }).optional(),
  node: SpecNameSchema.optional(),
  'token-file': z.string().min(1).optional(),
  program: z.string().min(1).optional(),
  cwd: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  module: z.string().min(1).optional(),
  honours: z.array(z.enum(AGENCY_SWITCHES)).optional(),
  replies: z.array(z.string()).min(1).optional(),
});
export type AgencyAgentFile = z.output<typeof AgencyAgentFile>;
