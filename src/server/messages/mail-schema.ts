import { optional, z } from 'zod';
import { MAX_MESSAGE_CHARS, SPEECH_ACTS } from '../../messages/speech-acts.ts';
import type { SpeechAct } from '../../ports/message-store.ts';

export const MAX_MESSAGES_PER_MAIL = 32;
export const MAX_NAMES_IN_CYCLE = 100;
export const MAX_WAITS_PER_MAIL = 1_000;
/** Maximum duration of a wait in mail, in milliseconds. */
export const MAX_MAIL_WAIT_MS = 86_400_000;

export const NodeNameSchema = z.string().regex(/^[\w.:-]{1,100}$/, 'use letters, digits, ".", ":", "_" and "-"');

const OwnId = z.string().regex(/^[^@\s]{1,300}@$/, 'is not an id that the sending node gave');
const OwnName = z.string().regex(/^[^@\s]{1,300}$/, 'is not a name of this node');
const AnyId = z.string().min(1).max(500);
const RemainingMs = z.number().min(0).max(MAX_MAIL_WAIT_MS);

/**
 * Mail between two nodes. A name that ends with `@` belongs to the sending node, a name without `@` to the receiving
 * node, and a name with `@<node>` to a third node.
 */
export const NodeMailSchema = z.strictObject({
  messages: z
    .array(
      z.strictObject({
        id: OwnId,
        kind: z.enum(['bell', 'whistle']),
        act: z.enum(Object.keys(SPEECH_ACTS) as [SpeechAct, ...SpeechAct[]]),
        from: z.string().regex(/^(?:session|person):[^@\s]{1,200}@$/, 'is not an address of the sending node'),
        author: z.string().min(1).max(200),
        to: z.string().regex(/^(?:session|agent|person):[^@\s]{1,200}$/, 'is not an address of this node'),
        text: z.string().min(1).max(MAX_MESSAGE_CHARS),
        ref: AnyId.nullable(),
        leftMs: RemainingMs.nullable().describe('How long the sender of a whistle still waits.'),
      }),
    )
    .max(MAX_MESSAGES_PER_MAIL)
    .default([]),
  receipts: z
    .array(z.strictObject({ message: AnyId, state: z.enum(['delivered', 'read']) }))
    .max(MAX_MESSAGES_PER_MAIL)
    .default([]),
  refusals: z
    .array(
      z.strictObject({
        message: AnyId,
        text: z.string().min(1).max(4_000),
        cycle: optional(
          z
            .array(z.string().regex(/^(?:[^@\s]{1,300}@?)?$/, 'is not a name of one of the two nodes'))
            .max(MAX_NAMES_IN_CYCLE),
        ).describe('The wait cycle that the message would close; an empty name means other machines.'),
      }),
    )
    .max(MAX_MESSAGES_PER_MAIL)
    .default([])
    .describe('Messages that were not delivered, with the reason.'),
  waits: optional(
    z.array(z.strictObject({ id: OwnId, waiter: OwnId, target: OwnName, leftMs: RemainingMs })).max(MAX_WAITS_PER_MAIL),
  ).describe('The open waits of this node for somebody at the receiving node. Absent if they have not changed.'),
  behind: optional(
    z
      .array(z.strictObject({ token: z.string().regex(/^wait-[0-9a-f]{32}$/), target: OwnId, leftMs: RemainingMs }))
      .max(MAX_WAITS_PER_MAIL),
  ).describe('The tokens of these waits, and of the waits for their waiters, on any machine. Only with "waits".'),
});
export type NodeMailBody = z.output<typeof NodeMailSchema>;
export type UndeliveredMessage = NodeMailBody['refusals'][number];
