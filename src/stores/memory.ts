import { hash as digest } from 'node:crypto';
import { isGone } from '../base/process-holder.ts';
import type { StoredBytes } from '../evidence/chain.ts';
import { type ChainHead, EMPTY_CHAIN, type StoredEntry } from '../evidence/entry.ts';
import type { FoundEntry } from '../evidence/evidence-query.ts';
import type { Clock } from '../ports/clock.ts';
import { type EvidenceStore, type KeptFold, type OperatorNote, StoreError } from '../ports/evidence-store.ts';
import { blobReferences, collectBlobs, eraseBodies } from './memory-removal.ts';
import { findNewest, type MemoryTables } from './memory-tables.ts';
import { memoryMessages } from './messages/memory.ts';
import { chainOf } from './reply-chain.ts';
import {
  isFromTheFuture,
  judgeAppend,
  judgeEphemeral,
  judgeLease,
  noteOf,
  readStored,
  type StoreView,
  seal,
  sealEphemeral,
  shortened,
  storeError,
  takeoverNote,
} from './rules/append-rules.ts';
import { answer, checkQuery, checkTime } from './rules/query-rules.ts';
import { eventOf, sessionFacts, summarise } from './summary.ts';

const NAME = 'memory';

/**
 * Evidence store in memory; it lives as long as the process. It is the reference implementation of
 * `test/contracts/evidence-store.ts`. It keeps bytes instead of objects, so that appended entries cannot be mutated.
 *
 * @example
 * const store = memoryStore({ clock: { now: () => 0 } });
 */
export function memoryStore({ clock = Date }: { readonly clock?: Clock } = {}): EvidenceStore {
  const tables: MemoryTables = {
    chains: new Map(),
    byId: new Map(),
    ephemeral: new Map(),
    sessions: new Map(),
    leases: new Map(),
    folds: new Map(),
    blobs: new Map(),
  };
  const { chains, byId, ephemeral, leases, blobs } = tables;
  const notes: OperatorNote[] = [];
  let nth = 0;
  let closed = false;

  const read = (bytes: StoredBytes): StoredEntry => readStored(NAME, bytes);
  const view: StoreView = {
    name: NAME,
    isGone,
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
    hasEphemeral: (id) => ephemeral.has(id),
  };
  const findAny = (id: string): FoundEntry | null => view.find(id) ?? ephemeral.get(id)?.found ?? null;
  const assertOpen = (): void => {
    if (closed) throw storeError(NAME, 'store-failed', 'the store is closed; open it again');
  };
  /** Runs one write. Records a refusal in the operator log before throwing it. */
  const write = <T>(sessionId: string, work: (now: number) => T): T => {
    assertOpen();
    const now = clock.now();
    try {
      return work(now);
    } catch (error) {
      const note = error instanceof StoreError ? noteOf(error, sessionId, now) : null;
      if (note !== null) notes.unshift(note);
      const held = leases.get(sessionId);
      if (note?.code === 'session-busy' && held && isFromTheFuture(held, now))
        leases.set(sessionId, shortened(held, now));
      throw error;
    }
  };

  const putFold = (sessionId: string, fold: KeptFold): void => {
    const erased = chains.get(sessionId)?.some(({ body }) => body === null) ?? false;
    if (!erased) tables.folds.set(sessionId, structuredClone(fold));
  };

  const messages = memoryMessages(clock);

  return {
    name: NAME,
    messages,

    async acquire(sessionId, holder, ttl) {
      return write(sessionId, (now) => {
        const { lease, note } = judgeLease(view, now, sessionId, holder, ttl);
        leases.set(sessionId, lease);
        if (note !== null) {
          notes.unshift(takeoverNote(note, sessionId, now));
          messages.endWaitsOf(`session:${sessionId}`);
        }
        return { sessionId, holder, until: lease.until };
      });
    },

    async release({ sessionId, holder }, fold) {
      assertOpen();
      if (leases.get(sessionId)?.holder !== holder) return;
      if (fold !== undefined) putFold(sessionId, fold);
      leases.delete(sessionId);
    },

    async keepFold({ sessionId, holder }, fold) {
      assertOpen();
      if (leases.get(sessionId)?.holder === holder) putFold(sessionId, fold);
    },

    async keptFold(sessionId) {
      assertOpen();
      return structuredClone(tables.folds.get(sessionId)) ?? null;
    },

    async append(lease, after, drafts) {
      assertOpen();
      const { drafts: complete, sealed } = seal(NAME, lease, after, drafts, clock.now());
      return write(lease.sessionId, (now) => {
        const granted = judgeAppend(view, now, lease, after, complete, sealed);
        if (granted.lease !== null) leases.set(lease.sessionId, granted.lease);
        const chain = chains.get(lease.sessionId) ?? [];
        for (const { entry, head, body } of granted.fresh) {
          const bytes = { head, body, prev: entry.prev, hash: entry.hash, nth: ++nth };
          chain.push(bytes);
          byId.set(entry.id, bytes);
          const { sessionId } = entry;
          if (entry.seq === 0)
            tables.sessions.set(sessionId, { ...sessionFacts(entry), name: null, archived: false, closed: false });
          if (eventOf(entry.body) === 'session-closed') tables.sessions.get(sessionId)!.closed = true;
        }
        if (chain.length > 0) chains.set(lease.sessionId, chain);
        return granted.stored;
      });
    },

    async appendEphemeral(sessionId, drafts) {
      assertOpen();
      const entries = sealEphemeral(NAME, sessionId, drafts, clock.now());
      return write(sessionId, () => {
        for (const entry of judgeEphemeral(view, entries)) {
          const found = { entry: structuredClone(entry), head: null, body: JSON.stringify(entry.body) };
          ephemeral.set(entry.id, { found, nth: ++nth });
        }
        return entries;
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

    async query(asked) {
      assertOpen();
      const checked = checkQuery(NAME, asked);
      return answer(NAME, checked, findNewest(tables, checked, read));
    },

    async replyChain(id) {
      assertOpen();
      return chainOf(NAME, id, findAny);
    },

    async sessions() {
      assertOpen();
      const summaries = [...chains].map(([sessionId, chain]) => {
        const facts = tables.sessions.get(sessionId)!;
        const [first, last] = [read(chain[0]!).entry, read(chain.at(-1)!).entry];
        return summarise(facts, first, last, facts.closed, view.leaseOf(sessionId), clock.now());
      });
      return summaries.reverse().sort((a, b) => (a.openedAt < b.openedAt ? 1 : a.openedAt > b.openedAt ? -1 : 0));
    },

    async label(sessionId, label) {
      assertOpen();
      const facts = tables.sessions.get(sessionId);
      if (!facts) throw storeError(NAME, 'session-not-found', `there is no session ${sessionId}`);
      tables.sessions.set(sessionId, { ...facts, ...label });
    },

    async putBlob(bytes) {
      assertOpen();
      const hash = digest('sha256', bytes);
      blobs.set(hash, { bytes: new Uint8Array(bytes), putAt: clock.now() });
      return hash;
    },

    async getBlob(hash) {
      assertOpen();
      const blob = blobs.get(hash);
      return blob === undefined ? null : new Uint8Array(blob.bytes);
    },

    async blobReferences(hash) {
      assertOpen();
      return blobReferences(tables, hash);
    },

    async collectBlobs({ olderThan }) {
      assertOpen();
      return { collected: collectBlobs(tables, checkTime(NAME, olderThan)) };
    },

    async erase(what) {
      assertOpen();
      return { erased: eraseBodies(NAME, tables, what, clock.now()) };
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
