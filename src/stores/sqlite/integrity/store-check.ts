import { hash as digest } from 'node:crypto';
import { parseJson } from '../../../base/json.ts';
import { plural } from '../../../base/text.ts';
import { valueOr } from '../../../base/value-or.ts';
import type { EntryDraft } from '../../../evidence/entry.ts';
import { findBlobIds } from '../../../evidence/find-blob-ids.ts';
import { MAX_STORE_PROBLEMS, type StoreProblem } from '../../../ports/evidence-store.ts';
import type { Json } from '../../../spec/types.ts';
import { isLeaseTooLong, type LeaseRow } from '../../rules/append-rules.ts';
import { facetsOfEntry, subjectIndexKey } from '../facets.ts';
import { type Database, sqliteResultCode } from '../node-sqlite.ts';
import { currentSqliteSchema, schemaOfDatabase } from '../sqlite-schema.ts';
import { type NamedStatements, prepareAtFirstUse, type SqliteRow } from '../statements.ts';
import type { StoreKey } from '../store-key.ts';
import { CorrespondenceCheck } from './correspondence-check.ts';
import { makeDispatchCheck } from './dispatch-check.ts';
import { makeSessionCheck } from './session-check.ts';

type Head = Omit<EntryDraft, 'body'> & { readonly seq?: number };

const SQL = {
  pages: `PRAGMA integrity_check(${MAX_STORE_PROBLEMS})`,
  entries: 'SELECT * FROM entries ORDER BY session_id, seq',
  ephemeral: 'SELECT * FROM ephemeral',
  session: 'SELECT opening, agent, pin, closed FROM sessions WHERE session_id = ?',
  lost: 'SELECT session_id FROM sessions WHERE session_id NOT IN (SELECT session_id FROM entries)',
  unpinned: "SELECT session_id, pin FROM sessions WHERE pin <> '' AND pin NOT IN (SELECT hash FROM blobs)",
  references: 'SELECT hash FROM blob_references WHERE id = ? ORDER BY hash',
  strayReferences:
    'SELECT id, hash FROM blob_references WHERE id NOT IN (SELECT id FROM entries UNION ALL SELECT id FROM ephemeral)',
  blobs: 'SELECT hash, bytes FROM blobs',
  folds: 'SELECT session_id, seq, hash, text, digest FROM folds',
  folded: 'SELECT 1 FROM entries WHERE session_id = ? AND seq = ? AND hash = ?',
  leases: 'SELECT session_id, holder, until, ttl, digest FROM leases',
};

/**
 * Compares the columns and tables that repeat parts of the evidence with the bytes of the entries, and lets SQLite
 * check its pages. Reads the file once, with memory that does not grow with the file.
 */
export class StoreCheck {
  readonly #db: Database;
  readonly #sql: NamedStatements<keyof typeof SQL>;
  readonly #problems: StoreProblem[] = [];
  readonly #correspondence: CorrespondenceCheck;

  constructor(db: Database) {
    this.#db = db;
    this.#sql = prepareAtFirstUse(db, SQL);
    this.#correspondence = new CorrespondenceCheck(db, (...problem) => this.#add(...problem));
  }

  /** @param now epoch milliseconds */
  run(key: StoreKey, now: number): readonly StoreProblem[] {
    // Runs in a transaction, so that all reads see one state of the file while other processes write.
    this.#db.exec('BEGIN');
    try {
      for (const part of [
        () => this.#pages(),
        () => this.#schema(),
        () => this.#entries(),
        () => this.#ephemeral(),
        () => this.#correspondence.finish(),
        () => this.#blobs(),
        () => this.#folds(key),
        () => this.#leases(key, now),
      ])
        this.#guarded(part);
    } finally {
      this.#db.exec('ROLLBACK');
    }
    return this.#problems;
  }

  #add(sessionId: string | null, where: string, message: string, isGap = false): void {
    if (this.#problems.length >= MAX_STORE_PROBLEMS) return;
    this.#problems.push({ sessionId, where, message, ...(isGap ? { isGap } : {}) });
  }

  /** Runs one part of the check, and reports unreadable pages, so that the other parts still run. */
  #guarded(part: () => void): void {
    try {
      part();
    } catch (error) {
      if (sqliteResultCode(error) === null) throw error;
      this.#add(null, 'file', `cannot be read: ${(error as Error).message}`);
    }
  }

  #pages(): void {
    for (const row of this.#sql.pages.all()) {
      const text = String(row['integrity_check']);
      if (text !== 'ok') this.#add(null, 'file', text);
    }
  }

  #schema(): void {
    const expected = currentSqliteSchema();
    const found = schemaOfDatabase(this.#db);
    for (const [each, sql] of expected)
      if (!found.has(each)) this.#add(null, 'schema', `${each} is missing`);
      else if (found.get(each) !== sql) this.#add(null, 'schema', `${each} is defined in another way`);
    for (const each of found.keys())
      if (!expected.has(each)) this.#add(null, 'schema', `${each} is not part of a store's schema`);
  }

  #entries(): void {
    let last = { sessionId: '', nth: 0, at: Number.NEGATIVE_INFINITY, seq: -1 };
    let session: ReturnType<typeof makeSessionCheck> | null = null;
    for (const row of this.#sql.entries.iterate() as Iterable<SqliteRow>) {
      const sessionId = String(row['session_id']);
      const seq = Number(row['seq']);
      if (sessionId !== last.sessionId) {
        session?.finish();
        session = makeSessionCheck(row, this.#sql.session.get(sessionId), (where, message) =>
          this.#add(sessionId, where, message),
        );
        last = { sessionId, nth: 0, at: Number.NEGATIVE_INFINITY, seq: -1 };
      }
      const head = headIn(row);
      if (head === null) this.#add(sessionId, `entries.head at ${seq}`, 'it is not the head of an entry');
      else {
        const at = Date.parse(head.at);
        this.#columns(row, seq, { ...columnsOf(head), seq: head.seq ?? null, late: at < last.at ? 1 : null });
        last = { ...last, at };
      }
      if (Number(row['nth']) <= last.nth) this.#add(sessionId, `entries.nth at ${seq}`, 'it is out of order');
      const body = bodyIn(row);
      session?.add(body, head?.tags ?? []);
      this.#correspondence.add(sessionId, seq, body, row['body'] === null);
      this.#references(sessionId, `at ${seq}`, row, body);
      last = { ...last, nth: Number(row['nth']), seq };
    }
    session?.finish();
    for (const { session_id: id } of this.#sql.lost.all())
      this.#add(String(id), 'sessions', 'the session has no entries');
    for (const { session_id: id, pin } of this.#sql.unpinned.all())
      this.#add(String(id), 'blobs', `the pinned spec ${pin} is missing`);
  }

  #ephemeral(): void {
    const checkDispatch = makeDispatchCheck(this.#db, (...problem) => this.#add(...problem));
    for (const row of this.#sql.ephemeral.iterate() as Iterable<SqliteRow>) {
      const head = headIn(row);
      const id = String(row['id']);
      if (head === null) this.#add(String(row['session_id']), `ephemeral.head of ${id}`, 'it is not an entry');
      else this.#columns(row, id, { ...columnsOf(head), in_reply_to: head.inReplyTo ?? null }, 'ephemeral');
      const body = bodyIn(row);
      this.#references(String(row['session_id']), `of ${id}`, row, body);
      if (head !== null) checkDispatch(String(row['session_id']), head, body);
    }
    for (const { id, hash } of this.#sql.strayReferences.all())
      this.#add(null, 'blob_references', `${id}, which refers to blob ${hash}, does not exist`);
  }

  #columns(row: SqliteRow, rowName: number | string, expected: SqliteRow, table = 'entries'): void {
    for (const [column, value] of Object.entries(expected))
      if (row[column] !== value) {
        const message = `it is ${JSON.stringify(row[column])}, and its entry says ${JSON.stringify(value)}`;
        this.#add(String(row['session_id']), `${table}.${column} at ${rowName}`, message);
      }
  }

  #references(sessionId: string, rowName: string, row: SqliteRow, body: Json): void {
    const expected = typeof row['body'] === 'string' ? [...findBlobIds(body)].sort() : [];
    const found = this.#sql.references.all(String(row['id'])).map(({ hash }) => String(hash));
    if (found.join() === expected.join()) return;
    this.#add(
      sessionId,
      `blob_references ${rowName}`,
      `the index names ${plural(found.length, 'blob')}, the entry's body ${expected.length}`,
    );
  }

  #blobs(): void {
    for (const { hash, bytes } of this.#sql.blobs.iterate())
      if (digest('sha256', bytes as Uint8Array) !== hash)
        this.#add(null, `blobs.bytes of ${hash}`, 'its bytes have another hash');
  }

  #folds(key: StoreKey): void {
    for (const row of this.#sql.folds.iterate()) {
      const id = String(row['session_id']);
      const fold = { head: { seq: Number(row['seq']), hash: String(row['hash']) }, text: String(row['text']) };
      const code = key.signFold(id, fold, false);
      if (code !== null && code !== row['digest'])
        this.#add(id, 'folds', "the kept state was not written with this account's key; it is not used");
      else if (this.#sql.folded.get(id, fold.head.seq, fold.head.hash) === undefined)
        this.#add(id, 'folds', `the kept state belongs to entry ${fold.head.seq}, which is missing or was replaced`);
    }
  }

  #leases(key: StoreKey, now: number): void {
    for (const row of this.#sql.leases.iterate()) {
      const lease = row as unknown as LeaseRow;
      const id = String(row['session_id']);
      if (isLeaseTooLong(lease, now))
        this.#add(id, 'leases', `the lease of ${lease.holder} lasts longer than a writer can ask for`);
      const code = key.signLease(id, lease, false);
      if (lease.until > now && code !== null && code !== row['digest'])
        this.#add(
          id,
          'leases',
          `the lease of ${lease.holder} was not written with this account's key; another account, an older hopgate or somebody by hand wrote it`,
        );
    }
  }
}

const columnsOf = (head: Head) => ({
  id: head.id,
  session_id: head.sessionId,
  at: Date.parse(head.at),
  facets: facetsOfEntry(head as EntryDraft),
  subject: subjectIndexKey(head.subject, head.sessionId),
  pattern_id: head.patternId ?? null,
  fork_of: head.forkOf ?? null,
});

/** The head of an entry; null if it cannot be read or lacks a field. */
const headIn = ({ head: text }: SqliteRow): Head | null =>
  valueOr(() => {
    const head = JSON.parse(String(text)) as Head;
    columnsOf(head);
    return head;
  }, null);

/** The body of an entry; null if it was erased or cannot be read. The check of the chain reports an unreadable body. */
const bodyIn = ({ body }: SqliteRow): Json => (typeof body === 'string' ? parseJson(body, null) : null);
