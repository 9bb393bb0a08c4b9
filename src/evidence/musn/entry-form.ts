import { type Fields, isObject, type Json } from '../../base/json.ts';
import { mapValues } from '../../base/map-values.ts';
import { splitWords } from '../../base/text.ts';
import type { EntryDraft } from '../entry.ts';
import { findDraftProblems } from '../entry-schema.ts';
import { type EdnValue, printEdn, toKeywordIfValid } from './print-edn.ts';

/** MUSN's keys and hopgate's, in the order in which they are printed. */
const KEYS = {
  'evidence/id': 'id',
  'evidence/type': 'type',
  'evidence/claim-type': 'claim',
  'evidence/subject': 'subject',
  'evidence/author': 'author',
  'evidence/at': 'at',
  'evidence/body': 'body',
  'evidence/tags': 'tags',
  'evidence/session-id': 'sessionId',
  'evidence/pattern-id': 'patternId',
  'evidence/in-reply-to': 'inReplyTo',
  'evidence/fork-of': 'forkOf',
  'evidence/conjecture?': 'conjecture',
  'evidence/peripheral': 'peripheral',
  'evidence/mode': 'mode',
} as const satisfies { readonly [key: string]: keyof EntryDraft };

const EPHEMERAL = 'evidence/ephemeral?';
/** Keys whose values are keywords in EDN. */
const NAMES = new Set(
  splitWords('evidence/type evidence/claim-type evidence/pattern-id evidence/peripheral evidence/mode'),
);

/** Returns an entry in MUSN's form, as JSON: `{ "evidence/id": …, "evidence/type": … }`, without the chain's fields. */
export function toMusnForm(entry: EntryDraft & { readonly ephemeral?: boolean }): Fields {
  const { subject } = entry;
  const form: { [key: string]: Json } = {};
  for (const [key, field] of Object.entries(KEYS)) {
    const value =
      field === 'subject' ? { 'ref/type': subject.type, 'ref/id': subject.id } : (entry[field] as Json | undefined);
    if (value !== undefined && !(value === null && (field === 'peripheral' || field === 'mode'))) form[key] = value;
  }
  if (entry.ephemeral === true) form[EPHEMERAL] = true;
  return form;
}

/** Prints an entry in the `:evidence/type` form, as EDN on one line. */
export function printMusnForm(form: Fields): string {
  const named = (key: string, value: Json): EdnValue => {
    if (NAMES.has(key) && typeof value === 'string') return toKeywordIfValid(value);
    if (key === 'evidence/tags' && Array.isArray(value)) return value.map((tag) => toKeywordIfValid(String(tag)));
    if (key === 'evidence/subject' && isObject(value))
      return { ...value, 'ref/type': toKeywordIfValid(String(value['ref/type'])) };
    return value;
  };
  return printEdn(mapValues(form, (value, key) => named(key, value)));
}

/** The draft that a form describes, or its problems with their paths. */
type ReadForm =
  | { readonly ok: true; readonly draft: EntryDraft; readonly ephemeral: boolean; readonly dropped: readonly string[] }
  | { readonly ok: false; readonly problems: readonly { readonly path: string; readonly message: string }[] };

export const isMusnForm = (value: Fields): boolean => Object.keys(value).some((key) => key.startsWith('evidence/'));

const FORM_OF = Object.fromEntries(Object.entries(KEYS).map(([key, field]) => [field, key]));

/**
 * Reads MUSN's form. Missing fields get defaults: the receiving session, that session as subject, the claim
 * `observation`, the given `id`. Unknown keys are dropped and reported; an unknown key that begins with `evidence/` is
 * an error.
 */
export function readMusnForm(form: Fields, defaults: { readonly id: string; readonly sessionId: string }): ReadForm {
  const fields: { [field: string]: unknown } = {};
  const problems: { path: string; message: string }[] = [];
  const dropped: string[] = [];
  for (const [key, value] of Object.entries(form)) {
    if (Object.hasOwn(KEYS, key)) fields[KEYS[key as keyof typeof KEYS]] = value;
    else if (key.startsWith('evidence/') && key !== EPHEMERAL)
      problems.push({ path: key, message: 'is not a field of an entry' });
    else if (key !== EPHEMERAL) dropped.push(key);
  }
  const ephemeral = form[EPHEMERAL] ?? false;
  if (typeof ephemeral !== 'boolean') problems.push({ path: EPHEMERAL, message: 'must be true or false' });
  const draft = {
    id: defaults.id,
    claim: 'observation',
    sessionId: defaults.sessionId,
    peripheral: null,
    mode: null,
    tags: [],
    body: null,
    ...fields,
    at: normaliseInstant(fields['at']),
    author: authorOf(fields['author']),
    subject: subjectOf(fields['subject'], defaults.sessionId),
  };
  problems.push(...findDraftProblems(draft).map(({ path, message }) => ({ path: formPath(path), message })));
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, draft: draft as unknown as EntryDraft, ephemeral: ephemeral === true, dropped };
}

function formPath(path: string): string {
  const [field = '', ...rest] = path.split('.');
  const inner = field === 'subject' ? rest.map((part) => `ref/${part}`) : rest;
  return [FORM_OF[field] ?? field, ...inner].join('.');
}

/** Normalises instants without milliseconds or with an offset; other values are left for the schema check. */
export function normaliseInstant(at: unknown): unknown {
  if (typeof at !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[-+]\d\d:\d\d)$/.test(at))
    return at;
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toISOString();
}

const authorOf = (author: unknown): unknown => (isObject(author) && 'id/value' in author ? author['id/value'] : author);

function subjectOf(subject: unknown, sessionId: string): unknown {
  if (subject === undefined) return { type: 'session', id: sessionId };
  if (!isObject(subject)) return subject;
  const { 'ref/type': type, 'ref/id': id, ...rest } = subject;
  return { ...rest, ...(type === undefined ? {} : { type }), ...(id === undefined ? {} : { id }) };
}
