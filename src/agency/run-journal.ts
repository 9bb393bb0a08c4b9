import { isLeaseHolderRunning, nameLeaseHolder } from '../base/process-holder.ts';
import { type Database, loadNodeSqlite, switchToWriteAheadLog } from '../stores/sqlite/node-sqlite.ts';
import { withSqliteErrors } from '../stores/sqlite/sqlite-error.ts';
import { RunFailure, type RunReply } from './run-reply.ts';

/** How long the reply of a finished run is kept, in milliseconds. */
const KEEP_MS = 7 * 86_400_000;

/** The state of a key when a run with it begins. */
type RunStart =
  | { readonly is: 'new' }
  | { readonly is: 'done'; readonly reply: RunReply }
  /** Another process of this machine works on the run. */
  | { readonly is: 'elsewhere' }
  /** The process of the run ended while its agent worked. */
  | { readonly is: 'interrupted' };

/** The runs of a node by their idempotency keys, on disk, so that a restart never repeats a run. */
export interface RunJournal {
  /** Claims a key. @throws RunFailure `key-reused` for another request */
  begin(key: string, digest: string): RunStart;
  /** The state of a key, without claiming it; `interrupted` for an unknown key. */
  find(key: string): Exclude<RunStart, { is: 'new' }>;
  finish(key: string, reply: RunReply): void;
  /** Frees a key whose run never began. */
  forget(key: string): void;
  close(): void;
}

interface Row {
  readonly digest: string;
  readonly holder: string;
  readonly reply: string | null;
}

/** How long a statement waits for another process's lock, in milliseconds. */
const BUSY_MS = 5_000;
const OWN_HOLDER = nameLeaseHolder(String(process.pid));

/** A journal in an SQLite file; `:memory:` for tests. Its functions throw StoreError `store-failed` if SQLite fails. */
export function openRunJournal(file: string): RunJournal {
  const inFile =
    <A extends readonly unknown[], T>(work: (...args: A) => T) =>
    (...args: A): T =>
      withSqliteErrors('use', file, () => work(...args));
  const db = inFile(openDatabase)(file);
  const claim = db.prepare('INSERT OR IGNORE INTO agency_runs (key, digest, holder, at) VALUES (?, ?, ?, ?)');
  const select = db.prepare('SELECT digest, holder, reply FROM agency_runs WHERE key = ?');
  const store = db.prepare('UPDATE agency_runs SET reply = ? WHERE key = ?');
  const drop = db.prepare('DELETE FROM agency_runs WHERE key = ?');
  return {
    begin: inFile((key, digest) => {
      if (claim.run(key, digest, OWN_HOLDER, Date.now()).changes === 1) return { is: 'new' };
      const row = select.get(key) as unknown as Row;
      if (row.digest !== digest)
        throw new RunFailure('key-reused', 'another run has this idempotency key', 'Use a new key for each run.');
      return stateOf(row);
    }),
    find: inFile((key) => stateOf(select.get(key) as Row | undefined)),
    finish: inFile((key, reply) => void store.run(JSON.stringify(reply), key)),
    forget: inFile((key) => void drop.run(key)),
    close: () => db.close(),
  };
}

function openDatabase(file: string): Database {
  const db = new (loadNodeSqlite().DatabaseSync)(file);
  switchToWriteAheadLog(db, BUSY_MS);
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS agency_runs (key TEXT PRIMARY KEY, digest TEXT NOT NULL, holder TEXT NOT NULL, at INTEGER NOT NULL, reply TEXT) STRICT`);
  db.prepare('DELETE FROM agency_runs WHERE at < ? AND reply IS NOT NULL').run(Date.now() - KEEP_MS);
  return db;
}

function stateOf(row: Row | undefined): Exclude<RunStart, { is: 'new' }> {
  if (row === undefined) return { is: 'interrupted' };
  if (row.reply !== null) return { is: 'done', reply: JSON.parse(row.reply) as RunReply };
  return row.holder !== OWN_HOLDER && isLeaseHolderRunning(row.holder) ? { is: 'elsewhere' } : { is: 'interrupted' };
}
