import { isObject, type Json, setOwnField } from '../base/json.ts';
import { canonicalKeys } from './canonical.ts';
import { CLAIM_TYPES, type EntryDraft, EVIDENCE_TYPES, SUBJECT_TYPES } from './entry.ts';
import { lazySchema } from './lazy-schema.ts';

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

const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

const CONTROL = /[\u0000-\u001f\u007f]/;
const isName = (value: unknown): boolean => isText(value) && value !== '' && !CONTROL.test(value);

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
  for (const key of canonicalKeys(value)) {
    const member = key.isWellFormed() ? copyOf((value as Record<string, unknown>)[key], depth + 1) : undefined;
    if (member === undefined) return undefined;
    setOwnField(copy, key, member);
  }
  return copy;
}

/** The shape of a draft, for error messages; {@link checkedBody} makes the same check at a tenth of the cost. */
const draftSchema = lazySchema((z) => {
  const Name = z.string().refine(isName, 'must be non-empty text without control characters or unpaired surrogates');
  return z.strictObject({
    id: Name,
    at: z.string().refine(isInstant, 'must be ISO 8601 in UTC with milliseconds: 2026-01-31T09:00:00.000Z'),
    type: z.enum(EVIDENCE_TYPES),
    claim: z.enum(CLAIM_TYPES),
    subject: z.strictObject({ type: z.enum(SUBJECT_TYPES), id: Name }),
    author: Name,
    sessionId: Name,
    peripheral: Name.nullable(),
    mode: Name.nullable(),
    body: z.unknown(),
    tags: z.array(Name),
    patternId: Name.optional(),
    inReplyTo: Name.optional(),
    forkOf: Name.optional(),
    conjecture: z.boolean().optional(),
  });
});

const KEYS: ReadonlySet<string> = new Set<keyof EntryDraft>([
  ...(['id', 'at', 'type', 'claim', 'subject', 'author', 'sessionId', 'peripheral', 'mode', 'body', 'tags'] as const),
  ...(['patternId', 'inReplyTo', 'forkOf', 'conjecture'] as const),
]);
const TYPES: ReadonlySet<unknown> = new Set(EVIDENCE_TYPES);
const CLAIMS: ReadonlySet<unknown> = new Set(CLAIM_TYPES);
const SUBJECTS: ReadonlySet<unknown> = new Set(SUBJECT_TYPES);
const isOptionalName = (value: unknown): boolean => value === undefined || isName(value);

/** The copy of a valid draft's body; undefined if the draft is not valid. */
const checkedBody = (value: unknown): Json | undefined => (isHead(value) ? copyOf(value.body, 0) : undefined);

/** True if every field of a draft except `body` is valid. */
function isHead(value: unknown): value is { readonly body: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const draft = value as Record<string, unknown>;
  for (const key of Object.keys(draft)) if (!KEYS.has(key)) return false;
  const subject = draft['subject'] as Record<string, unknown> | null | undefined;
  return (
    isName(draft['id']) &&
    isInstant(draft['at']) &&
    TYPES.has(draft['type']) &&
    CLAIMS.has(draft['claim']) &&
    typeof subject === 'object' &&
    subject !== null &&
    SUBJECTS.has(subject['type']) &&
    isName(subject['id']) &&
    Object.keys(subject).length === 2 &&
    isName(draft['author']) &&
    isName(draft['sessionId']) &&
    (draft['peripheral'] === null || isName(draft['peripheral'])) &&
    (draft['mode'] === null || isName(draft['mode'])) &&
    Array.isArray(draft['tags']) &&
    draft['tags'].every(isName) &&
    isOptionalName(draft['patternId']) &&
    isOptionalName(draft['inReplyTo']) &&
    isOptionalName(draft['forkOf']) &&
    (draft['conjecture'] === undefined || typeof draft['conjecture'] === 'boolean')
  );
}

/** Returns all problems of a draft, at most 20; empty if it is valid. */
export function findDraftProblems(value: unknown): readonly DraftProblem[] {
  const problems: DraftProblem[] = [];
  for (const { path, message } of draftSchema().safeParse(value).error?.issues ?? [])
    problems.push({ path: path.join('.'), message });
  if (isObject(value)) {
    for (const problem of nonJsonProblems((value as { body?: unknown }).body, 'body')) {
      problems.push(problem);
      if (problems.length >= 20) break;
    }
  }
  return problems.slice(0, 20);
}

/**
 * A copy of a draft's body, with the keys of its objects in canonical order. The caller's later mutations cannot change
 * it.
 * @throws EntryError with every problem if `value` is not a valid draft.
 */
export function copyDraftBody(value: unknown): Json {
  const body = checkedBody(value);
  if (body === undefined) throw new EntryError(findDraftProblems(value));
  return body;
}
