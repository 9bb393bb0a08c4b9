import { z } from 'zod';
import { MAX_MESSAGE_CHARS, SPEECH_ACTS } from '../../messages/speech-acts.ts';
import type { SpeechAct } from '../../ports/message-store.ts';
import { RECEIPT_STATES } from '../../spec/policy/receipt-states.ts';
import { EntrySchema, InstantSchema, NameSchema, PageLimitSchema, RefusedAnswerSchema } from '../schemas.ts';

const Act = z.enum(Object.keys(SPEECH_ACTS) as [SpeechAct, ...SpeechAct[]]);

export const MessageSchema = z.object({
  id: z.string(),
  seq: z.int().describe("Position in the recipient's inbox, from 1. Sort by it, not by time."),
  kind: z.enum(['bell', 'whistle']).describe('The sender of a whistle waits for an answer.'),
  act: Act,
  from: z.string().describe('The sender: session:<id> or person:<name>. hopgate writes it.'),
  author: z.string().describe('The agent id of the sender, or the name of the person.'),
  to: z.string(),
  text: z.string().describe('The words of the sender.'),
  ref: z.string().nullable().describe('The message that this one answers or is about.'),
  sentAt: InstantSchema,
  state: z
    .enum(RECEIPT_STATES)
    .describe('delivered: in the evidence of its session. read: a request of the recipient contained it.'),
});

export const StoredMessageSchema = z.object({
  message: MessageSchema,
  receipts: z.array(z.object({ state: MessageSchema.shape.state, at: InstantSchema })).describe('In their order.'),
  answer: MessageSchema.nullable().describe('The first answer; null before there is one.'),
});

export const PersonNameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,99}$/, 'use lowercase letters, digits and "-"')
  .default('operator')
  .describe('The person who reads or sends.');

const Words = z.string().min(1).max(MAX_MESSAGE_CHARS);
const Address = NameSchema.describe('session:<id>, agent:<id> (its newest open session) or person:<name>.');
const Ref = NameSchema.describe('The id of the message that this one answers or is about.');
const Seconds = z.number().min(0).max(3600).describe('How long to wait.');

/** The parts of a message that its sender supplies. hopgate adds the sender. */
export const BellBodySchema = z.strictObject({
  to: Address.optional().describe('Left out: the sender of the message in "ref".'),
  text: Words,
  act: Act.optional().describe('The speech act: assert if left out.'),
  ref: Ref.optional(),
});
export const WhistleBodySchema = z.strictObject({
  to: Address,
  text: Words,
  act: Act.optional().describe('The speech act: query if left out.'),
  ref: Ref.optional(),
  seconds: Seconds.default(60),
});

export const AnswerBodySchema = z.strictObject({ as: PersonNameSchema, text: Words });

export const UnreadOnlySchema = z
  .enum(['true', 'false'])
  .default('false')
  .describe('Only messages that were not read.');
export const InboxLimitSchema = PageLimitSchema.default(100);

export const SessionSentSchema = z.union([
  z.object({ ok: z.literal(true), message: MessageSchema, evidence: z.array(EntrySchema) }),
  RefusedAnswerSchema,
]);
export const WhistleAnsweredSchema = z.object({
  ok: z.literal(true),
  job: z.string().describe('The id of the whistle.'),
  answer: MessageSchema,
  waitedMs: z.number(),
});
export const SessionAnsweredSchema = z.union([
  WhistleAnsweredSchema.extend({ evidence: z.array(EntrySchema) }),
  RefusedAnswerSchema,
]);

/** The header with the idempotency key of a message: a repeated request with the same key sends no second message. */
export const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': 'Names the message: a request with the same key never sends it again.',
};
