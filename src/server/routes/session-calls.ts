import { z } from 'zod';
import { writeNote } from '../../daemon/write-note.ts';
import { isReflectPeripheral } from '../../session/state/drafts.ts';
import type { Requester } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import {
  BoundedTextSchema,
  CloseAnswerSchema,
  EntrySchema,
  HopAnswerSchema,
  JsonFieldsSchema,
  JsonSchema,
  ModeAnswerSchema,
  ModeSchema,
  NameSchema,
  PrincipalSchema,
  SettleAnswerSchema,
  StartAnswerSchema,
  StepAnswerSchema,
  StopAnswerSchema,
} from '../schemas.ts';
import { withHostedSession } from './use-session.ts';

const WRITERS = ['operator', 'session'] as const;

/** The principal of a request. @throws ApiError `forbidden` if an agent names the operator */
function principal(who: Requester, by: z.output<typeof PrincipalSchema> | undefined): 'agent' | 'operator' {
  if (who.role === 'operator') return by ?? 'operator';
  if (by === 'operator')
    throw new ApiError('forbidden', 'an agent cannot act as the operator', 'Leave out "by".', 'body.by');
  return 'agent';
}

const start = defineRoute('POST /v1/sessions/{session}/start', {
  id: 'start',
  summary: 'Enters a peripheral from outside.',
  for: WRITERS,
  body: z.strictObject({
    peripheral: NameSchema,
    context: JsonFieldsSchema.optional(),
    by: PrincipalSchema.optional(),
  }),
  answer: StartAnswerSchema,
  run: async ({ who, path, body: { peripheral, context, by }, services }) =>
    withHostedSession(services, path.session, 'a start', (session) =>
      session.start(peripheral, { by: principal(who, by), context }),
    ),
});

const step = defineRoute('POST /v1/sessions/{session}/step', {
  id: 'step',
  summary: 'Calls a tool. The answer comes after its evidence is durable.',
  for: WRITERS,
  body: z.strictObject({
    tool: NameSchema,
    args: JsonSchema.optional().describe('An object by parameter name, or a list in the order of the catalogue.'),
  }),
  answer: StepAnswerSchema,
  run: async ({ path, body: { tool, args }, services, signal }) =>
    withHostedSession(services, path.session, tool, (session) => session.step({ tool, args: args ?? {}, signal })),
});

const hop = defineRoute('POST /v1/sessions/{session}/hop', {
  id: 'hop',
  summary: 'Leaves this peripheral and enters another.',
  for: WRITERS,
  body: z.union([
    z.strictObject({
      to: NameSchema,
      exit: NameSchema.optional().describe('Inferred if only one exit opens the target.'),
      reason: BoundedTextSchema,
      fruit: JsonFieldsSchema.optional(),
      by: PrincipalSchema.optional(),
    }),
    z.strictObject({
      hop: NameSchema,
      reason: BoundedTextSchema,
      exit: NameSchema.optional(),
      summary: BoundedTextSchema.optional(),
    }),
  ]),
  answer: HopAnswerSchema,
  run: async ({ who, path, body, services }) =>
    withHostedSession(services, path.session, 'a hop', (session) =>
      session.hop('hop' in body ? body : { ...body, by: principal(who, body.by) }),
    ),
});

const mode = defineRoute('POST /v1/sessions/{session}/mode', {
  id: 'setMode',
  summary: 'Changes the mode, if the mode gate allows it.',
  for: WRITERS,
  body: z.strictObject({
    to: ModeSchema,
    summary: BoundedTextSchema.optional(),
    reset: z.boolean().optional().describe('Resets the mode; only for the operator.'),
    reason: BoundedTextSchema.optional(),
    exitCriteria: BoundedTextSchema.optional(),
    by: PrincipalSchema.optional(),
  }),
  answer: ModeAnswerSchema,
  run: async ({ who, path, body, services }) =>
    withHostedSession(services, path.session, 'a mode change', (session) =>
      session.setMode({ ...body, by: principal(who, body.by) }),
    ),
});

const stop = defineRoute('POST /v1/sessions/{session}/stop', {
  id: 'stop',
  summary: 'Ends the visit; the session is then outside of every peripheral.',
  for: WRITERS,
  body: z.strictObject({
    reason: BoundedTextSchema,
    fruit: JsonFieldsSchema.optional(),
    by: PrincipalSchema.optional(),
  }),
  answer: StopAnswerSchema,
  run: async ({ who, path, body: { reason, fruit, by }, services }) =>
    withHostedSession(services, path.session, 'a stop', (session) =>
      session.stop(reason, { by: principal(who, by), fruit }),
    ),
});

const note = defineRoute('POST /v1/sessions/{session}/note', {
  id: 'note',
  summary: 'Words of the operator for the agent: a running Claude Code or Codex reads them with its next call or turn.',
  for: ['operator'],
  body: z.strictObject({ text: z.string().min(1).max(4_000) }),
  answer: z.object({ ok: z.literal(true), evidence: z.array(EntrySchema) }),
  run: async ({ path, body: { text }, services }) => {
    const { root } = await services.allEvidence.ownSession(path.session);
    const { view } = await services.readers.read(path.session);
    if (view.closed) throw new ApiError('forbidden', 'the session is closed', 'Nobody reads a note there any longer.');
    return writeNote(services.host, { root, session: path.session, text });
  },
});

const close = defineRoute('POST /v1/sessions/{session}/close', {
  id: 'closeSession',
  summary: 'Closes the session permanently. Refused in the middle of a visit: stop first.',
  for: WRITERS,
  body: z.strictObject({ reason: BoundedTextSchema.optional(), by: PrincipalSchema.optional() }),
  answer: CloseAnswerSchema,
  run: async ({ who, path, body: { reason, by }, services }) =>
    withHostedSession(services, path.session, 'closing', (session) =>
      session.close(reason, { by: principal(who, by) }),
    ),
});

const resume = defineRoute('POST /v1/sessions/{session}/resume', {
  id: 'resume',
  summary: 'Records what happened without the agent: an interrupted step, a passed deadline, the timeout of the mode.',
  for: WRITERS,
  answer: SettleAnswerSchema,
  run: async ({ path, services }) =>
    withHostedSession(services, path.session, 'a resume', (session) => session.settle()),
});

const reflect = defineRoute('POST /v1/sessions/{session}/reflect', {
  id: 'reflect',
  summary:
    'Hops to the reflecting peripheral at a natural close. If a review is given, records it and ends the visit there.',
  for: WRITERS,
  body: z.strictObject({
    reason: BoundedTextSchema,
    review: JsonFieldsSchema.optional().describe('The words of the agent for its review: `what_went_well`, …'),
  }),
  answer: HopAnswerSchema,
  run: async ({ path, body: { reason, review }, services }) => {
    const reader = await services.readers.read(path.session);
    const to = Object.values(reader.pin.specs.peripherals).find(isReflectPeripheral)?.id ?? 'reflect';
    // The hop is judged before the session is taken, because taking it would interrupt a step of another program.
    const { view } = reader;
    const denial = view.pending === undefined ? null : reader.why({ kind: 'hop', to, reason, by: 'agent' });
    if (denial) return { ok: false, denial, evidence: [] };
    return withHostedSession(services, path.session, 'a reflection', async (session) => {
      const hopped = await session.hop({ to, reason });
      if (!hopped.ok || review === undefined) return hopped;
      const stopped = await session.stop(reason, { fruit: review });
      if (!stopped.ok) return stopped;
      const { fruit, context } = stopped;
      return { ...hopped, fruit, context, evidence: [...hopped.evidence, ...stopped.evidence] };
    });
  },
});

export const CALL_ROUTES: readonly HttpRoute[] = [start, step, hop, mode, stop, note, close, resume, reflect];
