import { hash as digest } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { excerpt } from '../base/text.ts';
import { valueOr } from '../base/value-or.ts';
import type { Json } from '../spec/types.ts';
import { canonicalJson } from './canonical.ts';
import { type ChainHead, EMPTY_CHAIN, type Entry, type EntryDraft, type StoredEntry } from './entry.ts';
import { copyDraftBody } from './entry-schema.ts';

/** The bytes of one entry as a store keeps them; every other form of the entry is computed from them. */
export interface StoredBytes {
  readonly head: string;
  /** null if the body was erased. */
  readonly body: string | null;
  readonly prev: string;
  readonly hash: string;
}

/** Thrown for stored bytes that are not an entry. */
export class ChainError extends Error {
  override readonly name = 'ChainError';
}

export const sha256 = (text: string): string => digest('sha256', text);

/** The fields of an entry's head, with keys in canonical order. */
function headOf(draft: EntryDraft, seq: number, bodyHash: string): Omit<Entry, 'body' | 'prev' | 'hash'> {
  const { at, author, claim, conjecture, forkOf, id, inReplyTo, mode, patternId, peripheral, sessionId, subject } =
    draft;
  return {
    at,
    author,
    bodyHash,
    claim,
    ...(conjecture === undefined ? {} : { conjecture }),
    ...(forkOf === undefined ? {} : { forkOf }),
    id,
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    mode,
    ...(patternId === undefined ? {} : { patternId }),
    peripheral,
    seq,
    sessionId,
    subject: { id: subject.id, type: subject.type },
    tags: [...draft.tags],
    type: draft.type,
  };
}

/**
 * Builds the entries that append `drafts` to the chain whose head is `after`. Pure.
 * @throws EntryError with every problem of the first invalid draft.
 */
export function buildChainedEntries(after: ChainHead, drafts: readonly EntryDraft[]): StoredEntry[] {
  let { seq, hash: prev } = after;
  return drafts.map((draft) => {
    const body = copyDraftBody(draft);
    const bodyBytes = canonicalJson(body);
    seq += 1;
    const head = headOf(draft, seq, sha256(bodyBytes));
    const headBytes = JSON.stringify(head);
    const hash = sha256(prev + headBytes);
    const entry: Entry = { ...head, body, prev, hash };
    prev = hash;
    return { entry, head: headBytes, body: bodyBytes };
  });
}

/**
 * Parses the stored bytes of an entry. An erased body reads as null.
 * @throws ChainError if the bytes are not JSON of an entry's shape. Does not check hashes: {@link verifyChain} does.
 */
export function parseStoredEntry({ head, body, prev, hash }: StoredBytes): StoredEntry {
  let fields: Omit<Entry, 'body' | 'prev' | 'hash'> | null = null;
  let content: Json;
  try {
    fields = JSON.parse(head);
    content = body === null ? null : JSON.parse(body);
  } catch (cause) {
    const part = fields ? `body of entry ${fields.id}` : 'head of an entry';
    throw new ChainError(`the stored ${part} is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof fields?.id !== 'string' || !Number.isInteger(fields.seq) || Number.isNaN(Date.parse(fields.at)))
    throw new ChainError(`the stored head of an entry has no id, no seq or no time: ${excerpt(head, 80)}`);
  return { entry: { ...fields, body: content, prev, hash }, head, body };
}

/** True if an entry's stored bytes match its hash; false for an erased body. */
export const isEntryIntact = ({ entry, head, body }: StoredEntry): boolean =>
  sha256(entry.prev + head) === entry.hash && body !== null && sha256(body) === entry.bodyHash;

/** True if an entry follows `before` in its chain. The bytes of an erased body are not checked. */
export const isNextInChain = ({ entry, head, body }: StoredEntry, before: ChainHead): boolean =>
  entry.seq === before.seq + 1 &&
  entry.prev === before.hash &&
  sha256(entry.prev + head) === entry.hash &&
  (body === null || sha256(body) === entry.bodyHash);

export interface ChainProblem {
  readonly seq: number;
  readonly id: string;
  /**
   * - `hash`: the entry's bytes do not match its hash.
   * - `prev`: the entry does not link to the entry before it.
   * - `seq`: an entry is missing, duplicated or out of order.
   * - `body`: the body's bytes do not match the hash in the head.
   * - `canonical`: the bytes cannot be parsed, or are the bytes of another entry.
   */
  readonly rule: 'hash' | 'prev' | 'seq' | 'body' | 'canonical';
  readonly message: string;
}

type ChainCheck =
  | { readonly ok: true; readonly head: ChainHead; readonly count: number }
  | { readonly ok: false; readonly problems: readonly ChainProblem[] };

/**
 * Checks a session's chain as a stream, on the stored bytes; nothing is serialised again. After a problem the check
 * continues with the faulty entry as the new start, so that each damage is reported at its own entry. Bytes that cannot
 * be parsed end the check.
 *
 * It cannot detect entries removed from the end, or a chain whose hashes were all recomputed. Compare `head` with a
 * copy kept elsewhere.
 *
 * @example
 * const check = await verifyChain(store.entries(sessionId));
 * if (!check.ok) for (const { seq, rule, message } of check.problems) console.error(seq, rule, message);
 */
export async function verifyChain(
  entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>,
  after: ChainHead = EMPTY_CHAIN,
): Promise<ChainCheck> {
  const problems: ChainProblem[] = [];
  let last = after;
  let count = 0;
  try {
    for await (const stored of entries) {
      problems.push(...linkProblems(last, stored));
      last = { seq: stored.entry.seq, hash: stored.entry.hash };
      count += 1;
    }
  } catch (error) {
    problems.push(unreadableEntryProblem(last, error));
  }
  return problems.length === 0 ? { ok: true, head: last, count } : { ok: false, problems };
}

/** The problem of an entry after `last` that could not be read. @throws the error, if it is about something else */
export function unreadableEntryProblem(last: ChainHead, error: unknown): ChainProblem {
  const cause = error instanceof Error && error.cause instanceof ChainError ? error.cause : error;
  if (!(cause instanceof ChainError)) throw error;
  return { seq: last.seq + 1, id: '', rule: 'canonical', message: `${cause.message}; reading ended here` };
}

function* linkProblems(last: ChainHead, { entry, head, body }: StoredEntry): Generator<ChainProblem> {
  const at = { seq: entry.seq, id: entry.id };
  if (sha256(entry.prev + head) !== entry.hash) {
    yield {
      ...at,
      rule: 'hash',
      message: 'the stored head bytes do not hash to the stored hash: the entry was changed',
    };
  }
  if (entry.prev !== last.hash)
    yield { ...at, rule: 'prev', message: `does not link to the entry before it (seq ${last.seq})` };
  if (entry.seq !== last.seq + 1)
    yield { ...at, rule: 'seq', message: `expected seq ${last.seq + 1}: entries are missing, doubled or out of order` };
  if (body !== null && sha256(body) !== entry.bodyHash)
    yield { ...at, rule: 'body', message: 'the stored body bytes do not hash to bodyHash: the body was changed' };
  if (!equalsBytes({ head, body }, entry))
    yield { ...at, rule: 'canonical', message: 'the stored bytes are those of another entry' };
}

/** True if the bytes belong to `entry`; a caller could pass the bytes of another entry. */
const equalsBytes = ({ head, body }: Pick<StoredEntry, 'head' | 'body'>, entry: Entry): boolean =>
  valueOr(
    () => isDeepStrictEqual(parseStoredEntry({ head, body, prev: entry.prev, hash: entry.hash }).entry, entry),
    false,
  );
