import { hash as digest } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../spec/types.ts';
import { canonical } from './canonical.ts';
import { type ChainHead, EMPTY_CHAIN, type Entry, type EntryDraft, type StoredEntry } from './entry.ts';
import { assertEntryDraft } from './entry-schema.ts';

/** What a store keeps of one entry. Everything else follows from these bytes. */
export interface StoredBytes {
  readonly head: string;
  /** null: the body was erased. */
  readonly body: string | null;
  readonly prev: string;
  readonly hash: string;
}

/** Stored bytes that are not an entry at all. */
export class ChainError extends Error {
  override readonly name = 'ChainError';
}

/** Sha256 (hex) of the UTF-8 bytes of a text. */
export const sha256 = (text: string): string => digest('sha256', text);

/** What is hashed, its keys in the canonical order already. */
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
 * The links that append `drafts` to a chain that stands at `after`. Pure.
 * @throws EntryError with every issue of the first draft that is none.
 */
export function sealDrafts(after: ChainHead, drafts: readonly EntryDraft[]): StoredEntry[] {
  let { seq, hash: prev } = after;
  return drafts.map((draft) => {
    assertEntryDraft(draft);
    const bodyBytes = canonical(draft.body);
    seq += 1;
    const head = headOf(draft, seq, sha256(bodyBytes));
    const headBytes = canonical(head as unknown as Json);
    const hash = sha256(prev + headBytes);
    // The body is read back from its bytes: what the caller does to its own later does not show in the entry.
    const entry: Entry = { ...head, body: JSON.parse(bodyBytes) as Json, prev, hash };
    prev = hash;
    return { entry, head: headBytes, body: bodyBytes };
  });
}

/**
 * The entry that stored bytes spell. An erased body reads as null.
 * @throws ChainError if the bytes are not JSON of an entry's shape. Does not check hashes: {@link verifyChain} does.
 */
export function parseStored({ head, body, prev, hash }: StoredBytes): StoredEntry {
  let fields: Omit<Entry, 'body' | 'prev' | 'hash'>;
  let content: Json;
  try {
    fields = JSON.parse(head);
    content = body === null ? null : JSON.parse(body);
  } catch (cause) {
    throw new ChainError(`an entry's stored bytes are not JSON: ${(cause as Error).message}`, { cause });
  }
  if (fields === null || typeof fields !== 'object' || typeof fields.id !== 'string' || !Number.isInteger(fields.seq)) {
    throw new ChainError("an entry's stored head has no id or no seq");
  }
  return { entry: { ...fields, body: content, prev, hash }, head, body };
}

/** Whether an entry's stored bytes are those that were hashed. An erased body is not. */
export const isIntact = ({ entry, head, body }: StoredEntry): boolean =>
  sha256(entry.prev + head) === entry.hash && body !== null && sha256(body) === entry.bodyHash;

/** One broken rule at one entry. */
export interface ChainProblem {
  readonly seq: number;
  readonly id: string;
  /**
   * - `hash`: the entry's bytes are not those that were hashed.
   * - `prev`: it does not follow the entry before it.
   * - `seq`: an entry is missing, doubled or out of order.
   * - `body`: the body's bytes are not those that the head names.
   * - `canonical`: the bytes do not spell this entry, or spell none.
   */
  readonly rule: 'hash' | 'prev' | 'seq' | 'body' | 'canonical';
  readonly message: string;
}

export type ChainVerdict =
  | { readonly ok: true; readonly head: ChainHead; readonly count: number }
  | { readonly ok: false; readonly problems: readonly ChainProblem[] };

/**
 * Checks a session's chain while it streams by, on the stored bytes: nothing is serialised again. After a problem it goes on from what it
 * found, so that each damage is reported where it is. Bytes that are no entry at all end the stream, and the check, there.
 *
 * What it cannot see: entries cut off at the end, and a chain that was rewritten from some entry on by someone who computed every hash anew.
 * Compare `head` with one that was kept elsewhere.
 *
 * @example
 * const verdict = await verifyChain(store.entries(sessionId));
 * if (!verdict.ok) for (const { seq, rule, message } of verdict.problems) console.error(seq, rule, message);
 */
export async function verifyChain(
  entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>,
  after: ChainHead = EMPTY_CHAIN,
): Promise<ChainVerdict> {
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
    const cause = error instanceof Error && error.cause instanceof ChainError ? error.cause : error;
    if (!(cause instanceof ChainError)) throw error;
    problems.push({ seq: last.seq + 1, id: '', rule: 'canonical', message: `${cause.message}; reading ended here` });
  }
  return problems.length === 0 ? { ok: true, head: last, count } : { ok: false, problems };
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
  if (entry.prev !== last.hash) {
    yield { ...at, rule: 'prev', message: `does not link to the entry before it (seq ${last.seq})` };
  }
  if (entry.seq !== last.seq + 1) {
    yield { ...at, rule: 'seq', message: `expected seq ${last.seq + 1}: entries are missing, doubled or out of order` };
  }
  if (body !== null && sha256(body) !== entry.bodyHash) {
    yield { ...at, rule: 'body', message: 'the stored body bytes do not hash to bodyHash: the body was changed' };
  }
  if (!spells({ head, body }, entry)) {
    yield { ...at, rule: 'canonical', message: 'the stored bytes spell another entry than the one shown' };
  }
}

/** The entry shown is the entry in the bytes (it is, unless someone handed over a pair that does not belong together). */
function spells({ head, body }: Pick<StoredEntry, 'head' | 'body'>, entry: Entry): boolean {
  try {
    return isDeepStrictEqual(parseStored({ head, body, prev: entry.prev, hash: entry.hash }).entry, entry);
  } catch {
    return false;
  }
}
