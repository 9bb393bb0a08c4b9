import { z } from 'zod';
import { ROLES_THAT_READ_SESSION } from '../access/tokens.ts';
import { NEWEST_ROW_COUNT } from '../frame-cache.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { EntrySeqSchema, JsonFieldsSchema, MillisSchema, ModeSchema, wholeNumberSchema } from '../schemas.ts';

const MAX_FRAMES = 5_000;

const LegSchema = z.object({ from: z.string().nullable(), to: z.string() });
const ViewState = z
  .looseObject({
    agent: z.string(),
    root: z.string(),
    peripheral: z.string().nullable(),
    visit: z.enum(['active', 'expired', 'interrupted']).nullable(),
    deadline: MillisSchema.nullable(),
    mode: ModeSchema.nullable(),
    closed: z.boolean(),
    steps: z.int(),
    denials: z.int(),
    running: z.string().nullable(),
    tools: z.array(z.string()),
    ways: z.array(
      z.looseObject({
        exit: z.string().nullable(),
        to: z.string(),
        status: z.enum(['open', 'asks', 'yours', 'closed']),
        missing: z.array(z.looseObject({ words: z.string() })),
        remedy: z.string(),
      }),
    ),
    lit: z.array(LegSchema).describe('The path that the last refusal suggested.'),
    backpack: z.record(z.string(), z.string()),
    files: z.record(z.string(), z.string()),
  })
  .describe('A session after one of its entries, as a person sees it.');

const Frame = z
  .looseObject({
    seq: z.int(),
    at: MillisSchema,
    event: z.string(),
    row: z.looseObject({ key: z.int(), seqs: z.array(z.int()), event: z.string(), action: z.string() }),
    replaces: z.array(z.int()).optional().describe('Keys of rows that are parts of this one now.'),
    delta: JsonFieldsSchema.describe(
      'The changed fields of the state; in `backpack` and `files`, null removes a member.',
    ),
  })
  .describe('The changes by one entry: its row, and the state after it.');

const frames = defineRoute('GET /v1/sessions/{session}/frames', {
  id: 'frames',
  summary: "A session's entries as a page shows them: rows, and the state after each.",
  for: ROLES_THAT_READ_SESSION,
  query: z.strictObject({
    from: EntrySeqSchema.default(0).describe('The first `seq`.'),
    limit: wholeNumberSchema(1, MAX_FRAMES).default(1_000),
  }),
  answer: z.object({
    before: ViewState.describe('The state before the first frame.'),
    frames: z.array(Frame),
    next: z.int().nullable().describe('The `from` of the next page; null if this is the last.'),
    seq: z.int().describe('The `seq` of the last entry.'),
  }),
  run: async ({ path: { session }, query: { from, limit }, services }) => {
    const frames = await services.frames.of(session);
    const page = await frames.page(from, limit);
    const last = page.frames.at(-1)?.seq ?? frames.seq;
    return { ...page, next: last < frames.seq ? last + 1 : null, seq: frames.seq };
  },
});

const snapshot = defineRoute('GET /v1/sessions/{session}/snapshot', {
  id: 'snapshot',
  summary: 'The present state of a session with its hop graph. The stream continues after `seq`.',
  for: ROLES_THAT_READ_SESSION,
  answer: z.object({
    seq: z.int().describe('The last `seq` of the snapshot: give it as `after` to the events.'),
    state: ViewState,
    specHash: z.string(),
    newest: z
      .object({
        past: z.boolean().describe('True for a long session: no frame has a delta, and `before` is the present state.'),
        before: ViewState.describe('The state before the first of the frames.'),
        frames: z.array(Frame),
      })
      .describe(`The last ${NEWEST_ROW_COUNT} frames.`),
    graph: z.looseObject({
      width: z.number(),
      height: z.number(),
      nodes: z.array(
        z.looseObject({ id: z.string(), x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
      ),
      edges: z.array(z.looseObject({ from: z.string(), to: z.string(), exits: z.array(z.string()) })),
    }),
  }),
  run: async ({ path: { session }, services }) => {
    const [{ graph, specs }, sessionFrames] = await Promise.all([
      services.frames.graph(session),
      services.frames.of(session),
    ]);
    const { seq, state } = sessionFrames;
    const { frames, ...newest } = sessionFrames.newest(NEWEST_ROW_COUNT);
    return { seq, state, specHash: specs.hash, graph, newest: { ...newest, frames: [...frames] } };
  },
});

export const VIEW_ROUTES: readonly HttpRoute[] = [frames, snapshot];
