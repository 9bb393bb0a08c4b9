import { isObject, type Json, setOwnField } from '../base/json.ts';
import { CLAIM_TYPES, type EntryDraft, EVIDENCE_TYPES, SUBJECT_TYPES, type Subject } from './entry.ts';

/** A problem of a draft; `path` is such as `body.result[2]`. */
interface DraftProblem {
  readonly path: string;
  readonly message: string;
}

/** Thrown for an invalid draft, with every problem. Nothing was written. */
export class EntryError extends Error {
  readonly problems: readonly DraftProblem[];
  constructor(problems: readonly DraftProblem[]) {
    super(problems.map(({ path, message }) => `${path === '' ? 'the draft' : path}: ${message}`).join('; '));
    this.name = 'EntryError';
    this.problems = problems;
  }
}

/** Greatest depth of a body. Readers of evidence may recurse, so deeper bodies are refused. */
const MAX_BODY_DEPTH = 200;

const CONTROL = /[\u0000-\u001f\u007f]/;
const isName = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && !CONTROL.test(value);

/** Matches the valid instants on the days 1 to 28 of a month: these need no calendar. */
const COMMON_INSTANT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}\.\d{3}Z$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
function isInstant(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (COMMON_INSTANT.test(value)) return true;
  if (!INSTANT.test(value)) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
}

/** True for a plain object without a method `toJSON`, which `JSON.stringify` would call instead of its members. */
const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value);
  const isOrdinary = prototype === Object.prototype || prototype === null;
  return isOrdinary && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
};

/** Yields a problem for each part that is not JSON: NaN, undefined, bigint, lone surrogates, instances, cycles. */
function* nonJsonProblems(value: unknown, path: string, depth = 0): Generator<DraftProblem> {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') {
    if (!value.isWellFormed())
      yield { path, message: 'has an unpaired surrogate; make it well-formed first (String.prototype.toWellFormed)' };
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) yield { path, message: `${value} is not a JSON number; write null or a text` };
  } else if (typeof value !== 'object') {
    yield { path, message: `${typeof value} is not JSON; leave it out or write it as text` };
  } else if (depth >= MAX_BODY_DEPTH) {
    yield { path, message: `is nested deeper than ${MAX_BODY_DEPTH} levels (or a cycle); flatten it or store a blob` };
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      yield* nonJsonProblems(value[index], `${path}[${index}]`, depth + 1);
  } else if (!isPlain(value)) {
    yield { path, message: 'is not a plain object; write its members as JSON' };
  } else {
    for (const [key, member] of Object.entries(value)) {
      const at = /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
      if (!key.isWellFormed()) yield { path: at, message: 'the key has an unpaired surrogate' };
      yield* nonJsonProblems(member, at, depth + 1);
    }
  }
}

/** A copy of a JSON value, with the keys of its objects in canonical order; undefined if the value is not JSON. */
function copyOf(value: unknown, depth: number): Json | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined;
  // JSON writes -0 as 0.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined;
  if (typeof value !== 'object' || depth >= MAX_BODY_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const list: Json[] = [];
    for (let index = 0; index < value.length; index++) {
      const member = copyOf(value[index], depth + 1);
      if (member === undefined) return undefined;
      list.push(member);
    }
    return list;
  }
  if (!isPlain(value)) return undefined;
  const copy: { [key: string]: Json } = {};
  for (const key of Object.keys(value).sort()) {
    const member = key.isWellFormed() ? copyOf((value as Record<string, unknown>)[key], depth + 1) : undefined;
    if (member === undefined) return undefined;
    setOwnField(copy, key, member);
  }
  return copy;
}

/** The check of one field, and the words for a wrong value. */
type FieldRule = readonly [isValid: (value: unknown) => boolean, must: string];

const NAME: FieldRule = [isName, 'must be non-empty text without control characters or unpaired surrogates'];
const oneOf = (values: readonly string[]): FieldRule => [
  (value) => values.includes(value as string),
  `must be one of ${values.join(', ')}`,
];
/** The rule, but the value may also be `absent`. */
const or = (absent: null | undefined, [isValid, must]: FieldRule): FieldRule => [
  (value) => value === absent || isValid(value),
  must,
];

const rulesOf = <T>(rules: { readonly [field in keyof Required<T>]: FieldRule }): ReadonlyMap<string, FieldRule> =>
  new Map(Object.entries<FieldRule>(rules));
const SUBJECT = rulesOf<Subject>({ type: oneOf(SUBJECT_TYPES), id: NAME });
const DRAFT = rulesOf<EntryDraft>({
  id: NAME,
  at: [isInstant, 'must be ISO 8601 in UTC with milliseconds: 2026-01-31T09:00:00.000Z'],
  type: oneOf(EVIDENCE_TYPES),
  claim: oneOf(CLAIM_TYPES),
  subject: [(value) => typeof value === 'object' && value !== null, 'must have a type and an id'],
  author: NAME,
  sessionId: NAME,
  peripheral: or(null, NAME),
  mode: or(null, NAME),
  body: [() => true, ''],
  tags: [Array.isArray, 'must be a list of names'],
  patternId: or(undefined, NAME),
  inReplyTo: or(undefined, NAME),
  forkOf: or(undefined, NAME),
  conjecture: or(undefined, [(value) => typeof value === 'boolean', 'must be true or false']),
});

function* fieldProblems(value: object, rules: typeof DRAFT, path = ''): Generator<DraftProblem> {
  for (const field of Object.keys(value))
    if (!rules.has(field)) yield { path, message: `an entry has no field "${field}" there` };
  for (const [field, [isValid, message]] of rules)
    if (!isValid((value as Record<string, unknown>)[field])) yield { path: path ? `${path}.${field}` : field, message };
}

/** Yields the problems of a draft except those of its `body`. */
function* headProblems(value: unknown): Generator<DraftProblem> {
  if (typeof value !== 'object' || value === null) return yield { path: '', message: 'must be an object' };
  yield* fieldProblems(value, DRAFT);
  const { subject, tags } = value as { readonly subject?: object | null; readonly tags?: unknown };
  if (typeof subject === 'object' && subject !== null) yield* fieldProblems(subject, SUBJECT, 'subject');
  if (!Array.isArray(tags)) return;
  for (const [index, tag] of tags.entries()) if (!isName(tag)) yield { path: `tags.${index}`, message: NAME[1] };
}

/** Returns all problems of a draft, at most 20; empty if it is valid. */
export function findDraftProblems(value: unknown): readonly DraftProblem[] {
  const problems = headProblems(value).take(20).toArray();
  if (!isObject(value)) return problems;
  return [...problems, ...nonJsonProblems((value as { body?: unknown }).body, 'body').take(20 - problems.length)];
}

/**
 * A copy of a draft's body, with the keys of its objects in the order that a stored entry has. The caller's later
 * mutations cannot change it.
 * @throws EntryError with every problem if `value` is not a valid draft.
 */
export function copyDraftBody(value: unknown): Json {
  const isHeadValid = headProblems(value).next().done;
  const body = isHeadValid ? copyOf((value as { readonly body?: unknown }).body, 0) : undefined;
  if (body === undefined) throw new EntryError(findDraftProblems(value));
  return body;
}
