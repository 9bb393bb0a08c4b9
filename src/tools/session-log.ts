import { isObject, type Json } from '../base/json.ts';
import type { StoredEntry } from '../evidence/entry.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { ToolBackend, ToolCall, ToolOutcome } from '../ports/tool-backend.ts';
import { LAZY_BACKENDS } from '../spec/policy/tool-ids.ts';
import { ABORTED_OUTCOME, invalidCall } from './tool-outcomes.ts';

const DEFAULT_LIMIT = 50;
/** A longer body is truncated, so that one entry does not displace the others. */
const MAX_BODY_BYTES = 4096;

/**
 * The backend of `musn-log`, which reads this session's own entries. Without `after`, it returns the newest `limit`
 * (default 50), newest first. With `after`, it returns the entries with a higher `seq`, oldest first; `next` is the
 * cursor for the next page (null at the end; `after: -1` starts at the beginning).
 */
export function sessionLogBackend(store: EvidenceStore): ToolBackend {
  return { ...LAZY_BACKENDS.sessionLog, run: async (call) => ({ outcome: await readLog(store, call), effects: [] }) };
}

async function readLog(store: EvidenceStore, call: ToolCall): Promise<ToolOutcome> {
  if (call.signal.aborted) return ABORTED_OUTCOME;
  const { limit = DEFAULT_LIMIT, after = null } = call.args;
  if (!isWhole(limit, 1)) return invalid('limit', 'a whole number from 1');
  if (after !== null && !isWhole(after, -1)) return invalid('after', 'the seq of an entry, or -1 for the beginning');
  const total = (await store.head(call.sessionId)).seq + 1;
  const from = after === null ? Math.max(0, total - limit) : after + 1;
  const views: { [key: string]: Json }[] = [];
  for await (const stored of store.entries(call.sessionId, { from })) {
    if (call.signal.aborted) return ABORTED_OUTCOME;
    if (views.length === limit || stored.entry.seq >= total) break;
    views.push(entryFields(stored));
  }
  if (after === null) views.reverse();
  const entries = takeFitting(views, call.tool.limits.outputBytes);
  const last = Number(entries.at(-1)?.['seq'] ?? total);
  const next = after !== null && last < total - 1 ? last : null;
  return { status: 'ok', result: { entries, next, total } };
}

/** The fields of an entry that an agent needs for reflection. */
function entryFields({ entry, body }: StoredEntry): { [key: string]: Json } {
  const { seq, id, at, type, claim, peripheral, mode, inReplyTo = null } = entry;
  const content = body === null ? null : entry.body;
  const event = isObject(content) ? (content['event'] ?? null) : null;
  return {
    seq,
    id,
    at,
    type,
    claim,
    event,
    peripheral,
    mode,
    inReplyTo,
    ...boundBody(content),
    ...(body === null ? { erased: true } : {}),
  };
}

function boundBody(body: Json): { body: Json; cut?: true } {
  const bytes = Buffer.from(JSON.stringify(body));
  return bytes.length <= MAX_BODY_BYTES
    ? { body }
    : { body: bytes.subarray(0, MAX_BODY_BYTES).toString('utf8'), cut: true };
}

/** Returns as many entries as fit, but at least one, so that the cursor always advances. */
function takeFitting<T extends { [key: string]: Json }>(views: readonly T[], cap: number): T[] {
  let size = 0;
  const fits = (one: T) => {
    size += Buffer.byteLength(JSON.stringify(one)) + 1;
    return size <= cap;
  };
  const over = views.findIndex((one) => !fits(one));
  return views.slice(0, over < 0 ? views.length : Math.max(1, over));
}

const isWhole = (value: Json, least: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least;

const invalid = (argument: string, rule: string): ToolOutcome =>
  invalidCall(argument, `"${argument}" must be ${rule}.`, 'Leave it out to see the newest entries.');
