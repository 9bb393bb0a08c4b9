import { z } from 'zod';
import { CLAIM_TYPES, EVIDENCE_TYPES, SUBJECT_TYPES } from '../evidence/entry.ts';
import { isInstant, MAX_QUERY_LIMIT } from '../evidence/evidence-query.ts';
import { DENIAL_CODES } from '../gate/denial.ts';
import type { Json as JsonValue } from '../spec/types.ts';

/** Any JSON value. These schemas are parts of requests and answers; the OpenAPI page is generated from them. */

export const JsonSchema = z.unknown().describe('Any JSON value.') as z.ZodType<JsonValue>;
export const JsonFieldsSchema = z.record(z.string(), JsonSchema);
export const NameSchema = z.string().min(1).max(300);
export const BoundedTextSchema = z.string().max(100_000);
export const ModeSchema = NameSchema.describe('A mode of the mode gate, such as discuss.');
export const InstantSchema = z.string().describe('ISO 8601 in UTC: 2026-01-31T09:00:00.000Z');
/** A time in a query, with milliseconds, so that it can be compared as text. */
export const TimeLimitSchema = InstantSchema.refine(
  isInstant,
  'must be ISO 8601 in UTC: 2026-01-31T09:00:00.000Z',
).transform((text) => new Date(text).toISOString());
/** A repository in a request. A relative path would start at the folder of the server, which a client does not know. */
export const RootSchema = z
  .string()
  .max(4096)
  .regex(/^\//, 'must be an absolute path')
  .describe('The absolute path of the repository.');
export const MillisSchema = z.number().describe('Epoch milliseconds.');
export const HashSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('A sha256, as 64 hex digits.');
export const PrincipalSchema = z
  .enum(['agent', 'operator'])
  .describe('The principal of the request. Only the operator may name "operator".');

export const UnreadableEntriesSchema = z
  .int()
  .describe('How many entries are left out because they cannot be read; `hopgate verify` names them.');
export const UnreadableSessionsSchema = z
  .array(z.string())
  .describe('The sessions that are left out because an entry cannot be read; `hopgate verify` names it.');
/** A whole number in a query or a header, which is text there. `z.coerce` would read an empty text as 0. */
export const wholeNumberSchema = (min: number, max: number) =>
  z.preprocess(
    (text) => (typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : text),
    z.int('must be a whole number').min(min).max(max),
  );
export const PageLimitSchema = wholeNumberSchema(1, MAX_QUERY_LIMIT);
export const EntrySeqSchema = wholeNumberSchema(0, Number.MAX_SAFE_INTEGER);

const ModeStepSchema = z.object({ to: ModeSchema, needs: z.array(z.string()) });

const WayLegSchema = z.object({
  from: z.string().nullable(),
  exit: z.string().nullable(),
  to: z.string(),
  needs: z.array(z.string()),
  modes: z.array(ModeStepSchema).optional().describe('Changes of mode before this leg.'),
  modesAfter: z.array(ModeStepSchema).optional().describe('Changes of mode after this leg.'),
});
export const AvailableActionsSchema = z.object({
  peripheral: z.string().nullable(),
  mode: ModeSchema.nullable(),
  tools: z.array(z.string()),
  hops: z.array(WayLegSchema),
  modes: z.array(ModeStepSchema),
});
export const DenialSchema = z.object({
  code: z.enum(DENIAL_CODES),
  message: z.string(),
  remedy: z.string(),
  about: JsonFieldsSchema,
  available: AvailableActionsSchema,
  way: z.array(WayLegSchema).nullable(),
});

export const EntrySchema = z.looseObject({
  id: z.string(),
  seq: z.int().optional().describe('The position in its session, from 0; ephemeral entries have none.'),
  at: InstantSchema,
  type: z.enum(EVIDENCE_TYPES),
  claim: z.enum(CLAIM_TYPES),
  subject: z.object({ type: z.enum(SUBJECT_TYPES), id: z.string() }),
  author: z.string(),
  sessionId: z.string(),
  peripheral: z.string().nullable(),
  mode: ModeSchema.nullable(),
  body: JsonSchema,
  tags: z.array(z.string()),
  hash: z.string().optional(),
  prev: z.string().optional(),
});

export const SessionStatusSchema = z.object({
  sessionId: z.string(),
  agent: z.string(),
  mode: ModeSchema.nullable(),
  peripheral: z.string().nullable(),
  visit: z.enum(['active', 'expired', 'interrupted']).nullable(),
  closed: z.boolean(),
  steps: z.int(),
  denials: z.int(),
  visits: z.record(z.string(), z.int()),
  backpack: JsonFieldsSchema,
  fruits: z.record(z.string(), JsonFieldsSchema),
  here: z.object({ steps: z.int(), deadline: MillisSchema.nullable(), observed: JsonFieldsSchema }).nullable(),
  changedFiles: z.array(z.string()),
  observeOnly: z.boolean().describe('True if calls that would be refused run, and the refusals are recorded.'),
});

/** A refusal by the gate: an answer with status 200. */
export const RefusedAnswerSchema = z.object({
  ok: z.literal(false),
  denial: DenialSchema,
  evidence: z.array(EntrySchema).describe('The entries that record the refusal.'),
});
const doneAnswer = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.union([z.object({ ok: z.literal(true), evidence: z.array(EntrySchema), ...shape }), RefusedAnswerSchema]);

export const StartAnswerSchema = doneAnswer({ peripheral: z.string(), context: JsonFieldsSchema });
export const StepAnswerSchema = doneAnswer({
  result: JsonSchema,
  outcome: z.enum(['ok', 'failed']),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
export const StopAnswerSchema = doneAnswer({ fruit: JsonFieldsSchema, context: JsonFieldsSchema });
export const HopAnswerSchema = doneAnswer({
  from: z.string(),
  to: z.string(),
  exit: z.string(),
  fruit: JsonFieldsSchema,
  context: JsonFieldsSchema,
});
export const ModeAnswerSchema = doneAnswer({ mode: ModeSchema });
export const CloseAnswerSchema = doneAnswer({ openSelections: z.array(z.string()) });
export const SettleAnswerSchema = doneAnswer({});

export const ApiErrorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    remedy: z.string(),
    path: z.string().optional().describe('The wrong part of the request: `body.tool`.'),
  }),
});
