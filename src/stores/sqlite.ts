import { hash as digest } from 'node:crypto';
import { assertForm, checkArguments } from '../base/assert-argument.ts';
import { memoise } from '../base/lazy.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import {
  judgeAppend,
  judgeEphemeralAppend,
  judgeLease,
  readStoredEntry,
  sealAppendDrafts,
  sealEphemeralDrafts,
} from './rules/append-rules.ts';
import { ENTRIES_FORMS, MESSAGE_FORMS, STORE_FORMS } from './rules/argument-forms.ts';
import { parseOlderThan, resolveStoreQuery, toQueryPage } from './rules/query-rules.ts';
import { readReplyChain } from './rules/reply-chain.ts';
import { StoreCheck } from './sqlite/integrity/store-check.ts';
import { SQLITE_STORE_NAME } from './sqlite/sqlite-error.ts';
import { sqliteMessages } from './sqlite/sqlite-messages.ts';
import { openSqliteParts, type SqliteParts, type SqliteStoreOptions } from './sqlite/sqlite-parts.ts';
import { findMatchingEntries } from './sqlite/sqlite-query.ts';
import { prepareStatementsOnce } from './sqlite/statements.ts';

/**
 * Evidence store in one SQLite file (WAL, synchronous FULL): acknowledged entries survive a crash and a power cut.
 * Several processes may open the same file; a session's lease allows one of them to write it. All waiting appends of a
 * process share one transaction.
 * @throws StoreError `store-failed` if the file cannot be opened: another program's, a newer schema's, no permission.
 * @throws TypeError for a wrong argument
 * @example
 * const store = sqliteStore('/home/me/.local/state/hopgate/evidence.db');
 */
export function sqliteStore(file: string, options: SqliteStoreOptions = {}): EvidenceStore {
  const parts = openSqliteParts(file, options);
  const { tables, clock, read, write } = parts;
  const messages = memoise(() =>
    checkArguments(
      sqliteMessages(parts.db, (work) => write(null, work), read),
      MESSAGE_FORMS,
    ),
  );
  const store: EvidenceStore = {
    name: SQLITE_STORE_NAME,
    get failed() {
      return parts.failed;
    },
    get messages() {
      return messages();
    },
    ...leaseMethods(parts),
    ...appendMethods(parts),
    ...readMethods(parts),
    ...blobMethods(parts),
    label: (sessionId, label) => write(null, () => tables.sessions.label(sessionId, label)),
    async erase(what) {
      const erased = await write(null, (now) => tables.eraseBodies(what, now));
      if ('sessionId' in what) await messages().eraseTexts(`session:${what.sessionId}`);
      parts.truncateLog();
      return { erased };
    },
    problems: async () => read(() => new StoreCheck(parts.db).run(parts.key, clock.now())),
    note: (note) => write(null, () => tables.notes.add(note)),
    notes: async ({ limit = -1 } = {}) => read(() => tables.notes.newest(limit)),
    close: parts.close,
  };
  return checkArguments(store, STORE_FORMS);
}

function leaseMethods({ facts, tables, read, write }: SqliteParts) {
  const { leases, folds, notes } = tables;
  /** A lease concerns only processes of the present boot, so it need not survive a power cut. */
  const writeLease = <T>(sessionId: string, work: (now: number) => T): Promise<T> => write(sessionId, work, false);
  return {
    acquire: async (sessionId, holder, ttl) =>
      writeLease(sessionId, (now) => {
        const { lease, note } = judgeLease(facts, now, sessionId, holder, ttl);
        leases.put(sessionId, lease);
        if (note !== null) {
          notes.add(note);
          leases.endWaits(sessionId);
        }
        return { sessionId, holder, until: lease.until };
      }),
    release: ({ sessionId, holder }, fold) =>
      writeLease(sessionId, () => {
        if (leases.remove(sessionId, holder) && fold !== undefined) folds.put(sessionId, fold);
      }),
    keepFold: ({ sessionId, holder }, fold) =>
      writeLease(sessionId, () => {
        if (leases.get(sessionId)?.holder === holder) folds.put(sessionId, fold);
      }),
    keptFold: async (sessionId) => read(() => folds.get(sessionId)),
  } satisfies Partial<EvidenceStore>;
}

function appendMethods({ facts, tables, clock, assertOpen, write }: SqliteParts) {
  const { entries, leases } = tables;
  return {
    async append(lease, after, drafts) {
      assertOpen();
      const { drafts: complete, sealed } = sealAppendDrafts(SQLITE_STORE_NAME, lease, after, drafts, clock.now());
      return write(lease.sessionId, (now) => {
        const accepted = judgeAppend(facts, now, lease, after, complete, sealed);
        for (const stored of accepted.fresh) entries.add(stored);
        if (accepted.lease !== null) leases.put(lease.sessionId, accepted.lease);
        return accepted.stored;
      });
    },
    async appendEphemeral(sessionId, drafts) {
      assertOpen();
      const sealed = sealEphemeralDrafts(SQLITE_STORE_NAME, sessionId, drafts, clock.now());
      return write(sessionId, () => {
        for (const entry of judgeEphemeralAppend(facts, sealed)) entries.addEphemeral(entry);
        return sealed;
      });
    },
  } satisfies Partial<EvidenceStore>;
}

function readMethods({ db, tables: { entries, sessions }, clock, read }: SqliteParts) {
  const prepare = prepareStatementsOnce(db);
  return {
    head: async (sessionId) =>
      read(() => {
        const { seq, hash } = entries.last(sessionId);
        return { seq, hash };
      }),
    async *entries(sessionId, options = {}) {
      assertForm('entries', ENTRIES_FORMS, { sessionId, options });
      const { from = 0 } = options;
      // The first pages are small, because many callers read only the first entry.
      for (let [next, limit] = [from, 1]; ; limit *= 16) {
        const page = read(() => entries.page(sessionId, next, limit));
        for (const row of page) yield readStoredEntry(SQLITE_STORE_NAME, row);
        if (page.length === 0) return;
        next = page.at(-1)!.seq + 1;
      }
    },
    get: async (id) => read(() => entries.find(id)),
    async query(query) {
      const checked = resolveStoreQuery(SQLITE_STORE_NAME, query);
      return read(() => toQueryPage(SQLITE_STORE_NAME, checked, findMatchingEntries(prepare, checked)));
    },
    replyChain: async (id) =>
      read(() => readReplyChain(SQLITE_STORE_NAME, id, (each) => entries.find(each) ?? entries.findEphemeral(each))),
    sessions: async () => read(() => sessions.list(clock.now())),
  } satisfies Partial<EvidenceStore>;
}

function blobMethods({ tables: { blobs }, read, write, truncateLog }: SqliteParts) {
  return {
    async putBlob(bytes) {
      const hash = digest('sha256', bytes);
      const copy = new Uint8Array(bytes);
      await write(null, (now) => blobs.put(hash, copy, now));
      return hash;
    },
    getBlob: async (hash) => read(() => blobs.get(hash)),
    blobReferences: async (hash) => read(() => blobs.references(hash)),
    async collectBlobs({ olderThan }) {
      const before = parseOlderThan(SQLITE_STORE_NAME, olderThan);
      const collected = await write(null, () => blobs.collect(before));
      truncateLog();
      return { collected };
    },
  } satisfies Partial<EvidenceStore>;
}
