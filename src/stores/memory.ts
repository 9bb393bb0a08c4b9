import { hash as digest } from 'node:crypto';
import type { StoredBytes } from '../evidence/chain.ts';
import { type ChainHead, EMPTY_CHAIN, type StoredEntry } from '../evidence/entry.ts';
import type { Clock } from '../ports/clock.ts';
import { type EvidenceStore, type OperatorNote, StoreError } from '../ports/evidence-store.ts';
import {
  judgeAppend,
  judgeLease,
  type LeaseRow,
  noteOf,
  readStored,
  type StoreView,
  seal,
  storeError,
  takeoverNote,
} from './append-rules.ts';
import { eventOf, summarise } from './summary.ts';

const NAME = 'memory';

/**
 * Keeps evidence in this process, as durable as the process is. The reference: what it does under `test/contracts/evidence-store.ts` is what
 * every store does. It keeps bytes, not objects, so that nobody can change what was appended.
 *
 * @example
 * const store = memoryStore({ clock: { now: () => 0 } });
 */
export function memoryStore({ clock = Date }: { readonly clock?: Clock } = {}): EvidenceStore {
  const chains = new Map<string, StoredBytes[]>();
  const byId = new Map<string, StoredBytes>();
  const leases = new Map<string, LeaseRow>();
  const blobs = new Map<string, Uint8Array>();
  const notes: OperatorNote[] = [];
  let closed = false;

  const read = (bytes: StoredBytes): StoredEntry => readStored(NAME, bytes);
  const view: StoreView = {
    name: NAME,
    leaseOf: (sessionId) => leases.get(sessionId) ?? null,
    headOf(sessionId) {
      const last = chains.get(sessionId)?.at(-1);
      return last === undefined ? EMPTY_CHAIN : headOf(read(last));
    },
    find(id) {
      const bytes = byId.get(id);
      return bytes === undefined ? null : read(bytes);
    },
    has: (id) => byId.has(id),
  };
  const assertOpen = (): void => {
    if (closed) throw storeError(NAME, 'store-failed', 'the store is closed; open it again');
  };
  /** Runs one write; a refusal that concerns the operator is noted before it is thrown. */
  const write = <T>(sessionId: string, work: (now: number) => T): T => {
    assertOpen();
    const now = clock.now();
    try {
      return work(now);
    } catch (error) {
      const note = error instanceof StoreError ? noteOf(error, sessionId, now) : null;
      if (note !== null) notes.unshift(note);
      throw error;
    }
  };

  return {
    name: NAME,

    async acquire(sessionId, holder, ttl) {
      return write(sessionId, (now) => {
        const { lease, note } = judgeLease(view, now, sessionId, holder, ttl);
        leases.set(sessionId, lease);
        if (note !== null) notes.unshift(takeoverNote(note, sessionId, now));
        return { sessionId, holder, until: lease.until };
      });
    },

    async release({ sessionId, holder }) {
      assertOpen();
      if (leases.get(sessionId)?.holder === holder) leases.delete(sessionId);
    },

    async append(lease, after, drafts) {
      assertOpen();
      const sealed = seal(NAME, lease, after, drafts);
      return write(lease.sessionId, (now) => {
        const granted = judgeAppend(view, now, lease, after, drafts, sealed);
        if (granted.lease !== null) leases.set(lease.sessionId, granted.lease);
        const chain = chains.get(lease.sessionId) ?? [];
        for (const { entry, head, body } of granted.fresh) {
          const bytes = { head, body, prev: entry.prev, hash: entry.hash };
          chain.push(bytes);
          byId.set(entry.id, bytes);
        }
        if (chain.length > 0) chains.set(lease.sessionId, chain);
        return granted.stored;
      });
    },

    async head(sessionId) {
      assertOpen();
      return view.headOf(sessionId);
    },

    async *entries(sessionId, { from = 0 } = {}) {
      assertOpen();
      const chain = chains.get(sessionId) ?? [];
      for (let seq = Math.max(0, from); seq < chain.length; seq++) yield read(chain[seq]!);
    },

    async get(id) {
      assertOpen();
      return view.find(id);
    },

    async sessions() {
      assertOpen();
      const summaries = [...chains].map(([sessionId, chain]) => {
        const entries = chain.map((bytes) => read(bytes).entry);
        const isClosed = entries.some(({ body }) => eventOf(body) === 'session-closed');
        return summarise(entries[0]!, entries.at(-1)!, isClosed, view.leaseOf(sessionId), clock.now());
      });
      return summaries.reverse().sort((a, b) => (a.openedAt < b.openedAt ? 1 : a.openedAt > b.openedAt ? -1 : 0));
    },

    async putBlob(bytes) {
      assertOpen();
      const hash = digest('sha256', bytes);
      if (!blobs.has(hash)) blobs.set(hash, new Uint8Array(bytes));
      return hash;
    },

    async getBlob(hash) {
      assertOpen();
      const bytes = blobs.get(hash);
      return bytes === undefined ? null : new Uint8Array(bytes);
    },

    async note(note) {
      assertOpen();
      notes.unshift({ ...note });
    },

    async notes({ limit = Number.POSITIVE_INFINITY } = {}) {
      assertOpen();
      return notes.slice(0, limit);
    },

    async close() {
      closed = true;
    },
  };
}

const headOf = ({ entry }: StoredEntry): ChainHead => ({ seq: entry.seq, hash: entry.hash });
