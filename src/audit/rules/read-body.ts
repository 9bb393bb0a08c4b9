import { type Fields, fieldsOf } from '../../base/json.ts';
import { splitWords } from '../../base/text.ts';
import { type Body, toBody } from '../../evidence/bodies.ts';
import { type Json, PRINCIPALS } from '../../spec/types.ts';

type FieldTest = (value: Json | undefined) => boolean;

const text: FieldTest = (value) => typeof value === 'string';
const textOrNull: FieldTest = (value) => value === null || typeof value === 'string';
const number: FieldTest = (value) => typeof value === 'number';
const numberOrNull: FieldTest = (value) => value === null || typeof value === 'number';
const fields: FieldTest = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const objectWith = (tests: { readonly [name: string]: FieldTest }): FieldTest => {
  const pairs = Object.entries(tests);
  return (value) => fields(value) && pairs.every(([name, test]) => test((value as Fields)[name]));
};
const optional =
  (test: FieldTest): FieldTest =>
  (value) =>
    value === undefined || test(value);
const texts = (names: string) => Object.fromEntries(splitWords(names).map((name) => [name, text]));
const outcome = objectWith({ status: text });
const effects: FieldTest = (value) =>
  value === 'unobserved' ||
  (Array.isArray(value) && value.every((one) => text(fieldsOf(one)['path']) && text(fieldsOf(one)['op'])));
const reported = { observed: optional(fields), state: optional(fields) };
const oneOf =
  (words: readonly string[]): FieldTest =>
  (value) =>
    typeof value === 'string' && words.includes(value);
const by = oneOf(PRINCIPALS);
const wouldRefuse: FieldTest = (value) => value === undefined || objectWith({ code: text })(value);
const call = { tool: text, args: fields, wouldRefuse };

const SHAPES: { readonly [event in Body['event']]: { readonly [field: string]: FieldTest } } = {
  'session-open': { agent: text, root: text, specHash: text, parent: optional(text), delegation: optional(text) },
  start: { peripheral: text, by, context: fields, deadline: numberOrNull },
  step: { ...call, outcome, effects, ...reported },
  intent: { ...call, approval: optional(text) },
  outcome: { tool: text, outcome, effects, ...reported },
  interrupted: { tool: text },
  denial: { request: fields, code: text, about: fields },
  stop: {
    ...texts('peripheral reason'),
    by,
    fruit: fields,
    exit: textOrNull,
    ended: (value) => value === undefined || (Array.isArray(value) && value.every(text)),
  },
  hop: { from: text, exit: text, to: text, reason: text, by, approval: textOrNull },
  delegation: {
    ...texts('from to reason'),
    within: oneOf(['parent', 'own']),
    session: textOrNull,
    context: fields,
    by,
    approval: textOrNull,
    agency: optional(objectWith({ run: text, acts: (value) => typeof value === 'boolean' })),
  },
  mode: {
    ...texts('from to'),
    how: oneOf(['transition', 'reset', 'timeout']),
    by,
    summary: textOrNull,
    reason: textOrNull,
    exitCriteria: textOrNull,
    approval: textOrNull,
  },
  approval: {
    record: objectWith({ ...texts('id nonce sessionId requestHash by expiresAt'), grant: optional(text) }),
    request: objectWith({ action: fields, reason: text, view: fields }),
  },
  grant: {
    ...texts('id by grantedAt'),
    action: fields,
    bound: fields,
    limits: objectWith({
      until: number,
      uses: (value) => value === undefined || number(value),
      files: (value) => value === undefined || (Array.isArray(value) && value.every(text)),
      testsPass: (value) => value === undefined || value === true,
    }),
  },
  'grant-end': { grant: text, by: text },
  note: { by, text },
  expired: { peripheral: text, deadline: number },
  message: { id: text, seq: number, kind: text, act: text, from: text, author: text, text, ref: textOrNull },
  receipt: { message: text, state: text, nth: numberOrNull },
  par: { par: fields },
  'session-closed': { by },
};

const FIELD_TESTS = new Map(Object.entries(SHAPES).map(([event, shape]) => [event, Object.entries(shape)]));

/** Reads a body that another program may have written or changed. Returns null if the audit cannot judge it. */
export function parseEntryBody(value: Json): Body | null {
  const body = toBody(value);
  return body && FIELD_TESTS.get(body.event)?.every(([field, test]) => test((value as Fields)[field])) ? body : null;
}

/** The first field of a body that is missing or of another type; null if there is none, or if its event is unknown. */
export const findWrongBodyField = (value: Json): string | null =>
  FIELD_TESTS.get(toBody(value)?.event ?? '')?.find(([field, test]) => !test((value as Fields)[field]))?.[0] ?? null;
