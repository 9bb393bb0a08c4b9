import { type Body, bodyOf } from '../../evidence/bodies.ts';
import { type Json, MODES, PRINCIPALS } from '../../spec/types.ts';
import { fieldsOf } from './json.ts';

type Check = (value: Json | undefined) => boolean;

const text: Check = (value) => typeof value === 'string';
const textOrNull: Check = (value) => value === null || typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const numberOrNull: Check = (value) => value === null || typeof value === 'number';
const fields: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const having =
  (checks: { readonly [name: string]: Check }): Check =>
  (value) =>
    fields(value) && Object.entries(checks).every(([name, check]) => check(fieldsOf(value)[name]));
const outcome = having({ status: text });
const effects: Check = (value) =>
  value === 'unobserved' || (Array.isArray(value) && value.every(having({ path: text, op: text })));
const oneOf =
  (words: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value);
const by = oneOf(PRINCIPALS);
const call = { tool: text, args: fields };

/** The fields that the audit reads of each body. */
const SHAPES: { readonly [event in Body['event']]: { readonly [field: string]: Check } } = {
  'session-open': { agent: text, root: text, specHash: text },
  start: { peripheral: text, by, context: fields, deadline: numberOrNull },
  step: { ...call, outcome, effects },
  intent: call,
  outcome: { tool: text, outcome, effects },
  interrupted: { tool: text },
  denial: { request: fields },
  stop: { peripheral: text, reason: text, by, fruit: fields, exit: textOrNull },
  hop: { from: text, exit: text, to: text, reason: text, by, approval: textOrNull },
  mode: {
    ...{ from: oneOf(MODES), to: oneOf(MODES), how: oneOf(['transition', 'reset', 'timeout']), by },
    ...{ summary: textOrNull, reason: textOrNull, exitCriteria: textOrNull, approval: textOrNull },
  },
  approval: {
    record: having({ id: text, nonce: text, sessionId: text, requestHash: text, by: text, expiresAt: text }),
    request: having({ action: fields, reason: text, view: fields }),
  },
  expired: { peripheral: text, deadline: number },
  par: { par: fields },
  'session-closed': { by },
};

/** A body that the audit can judge, or the reason why it cannot: a log may come from anybody. */
export type ReadBody =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly event: string | null; readonly field: string | null };

/** Reads a body that may be of another program, or altered. `event` is null if it is not a body at all, `field` if the event is unknown. */
export function readBody(value: Json): ReadBody {
  const body = bodyOf(value);
  if (!body) return { ok: false, event: null, field: null };
  if (!Object.hasOwn(SHAPES, body.event)) return { ok: false, event: body.event, field: null };
  const checks = SHAPES[body.event];
  for (const field in checks)
    if (!checks[field]!((body as unknown as { [name: string]: Json })[field]))
      return { ok: false, event: body.event, field };
  return { ok: true, body };
}
