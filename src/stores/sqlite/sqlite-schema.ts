import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../base/files.ts';
import {
  type Database,
  isCannotOpenError,
  isDiskFullError,
  loadNodeSqlite,
  sqliteReason,
  switchToWriteAheadLog,
} from './node-sqlite.ts';
import { sqliteError } from './sqlite-error.ts';
import { MESSAGE_TABLES } from './sqlite-messages.ts';

/** SQLite's name for a database without a file. */
export const IN_MEMORY_FILE = ':memory:';

/** The schema's version, stored in `user_version`. */
const SCHEMA_VERSION = 8;
/** "hpgt": identifies hopgate's files to `file` and to hopgate. */
const APPLICATION_ID = 0x68706774;

/**
 * `head` and `body` are the hashed bytes. The other columns of an entry repeat parts of them for lookup, and every
 * found entry is checked against its bytes. Each index costs every append a page, so there are few:
 *
 * - `entries_at` serves the queries that no other index serves, newest first. It contains `facets` (type, claim,
 *   author, peripheral and tags, one per line), so that entries that do not match are never fetched.
 * - an entry about its own session has no `subject`: it is found by session. So `entries_subject` and `entries_pattern`
 *   hold the few others.
 * - a session in order of `seq` is in order of time, unless an entry is `late`: older than the one before it.
 *
 * `digest` is the signature of a row: see `StoreKey`.
 */
const DDL = `
  CREATE TABLE entries (
    nth INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    late INTEGER,
    facets TEXT NOT NULL,
    subject TEXT,
    pattern_id TEXT,
    fork_of TEXT,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    head TEXT NOT NULL,
    body TEXT
  ) STRICT;
  CREATE UNIQUE INDEX entries_session ON entries (session_id, seq);
  CREATE INDEX entries_at ON entries (at, nth, facets);
  CREATE INDEX entries_late ON entries (session_id) WHERE late = 1;
  CREATE INDEX entries_subject ON entries (subject, at, nth) WHERE subject IS NOT NULL;
  CREATE INDEX entries_pattern ON entries (pattern_id, at, nth) WHERE pattern_id IS NOT NULL;
  CREATE INDEX entries_fork ON entries (fork_of) WHERE fork_of IS NOT NULL;
  CREATE INDEX entries_erased ON entries (session_id) WHERE body IS NULL;
  CREATE TABLE ephemeral (
    nth INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    facets TEXT NOT NULL,
    subject TEXT,
    pattern_id TEXT,
    in_reply_to TEXT,
    fork_of TEXT,
    head TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX ephemeral_session ON ephemeral (session_id, at, nth);
  CREATE INDEX ephemeral_at ON ephemeral (at, nth, facets);
  CREATE INDEX ephemeral_reply ON ephemeral (in_reply_to) WHERE in_reply_to IS NOT NULL;
  CREATE INDEX ephemeral_fork ON ephemeral (fork_of) WHERE fork_of IS NOT NULL;
  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    opening INTEGER NOT NULL,
    agent TEXT NOT NULL,
    pin TEXT NOT NULL,
    closed INTEGER NOT NULL,
    name TEXT,
    archived INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX sessions_pin ON sessions (pin);
  CREATE TABLE blob_references (
    id TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (id, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_references_hash ON blob_references (hash);
  CREATE TABLE leases (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL, ttl INTEGER NOT NULL, digest TEXT NOT NULL DEFAULT '') STRICT;
  CREATE TABLE blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL, put_at INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE notes (
    rowid INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    code TEXT NOT NULL,
    session_id TEXT,
    message TEXT NOT NULL
  ) STRICT;
  CREATE TABLE folds (
    session_id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    digest TEXT NOT NULL
  ) STRICT;
  ${MESSAGE_TABLES}
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Opens the file. Creates a missing file with mode 0600 in a folder with mode 0700.
 * @throws StoreError `store-failed` for a file of another version, of another program, or one that cannot be opened.
 */
export function openDatabase(file: string, busyMs: number): Database {
  let db: Database | undefined;
  try {
    if (file !== IN_MEMORY_FILE) makePrivate(file);
    db = new (loadNodeSqlite().DatabaseSync)(file);
    db.exec(
      `PRAGMA busy_timeout = ${Math.trunc(busyMs)}; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON`,
    );
    const version = assertStoreFile(db);
    switchToWriteAheadLog(db, busyMs);
    db.exec('PRAGMA synchronous = FULL');
    if (version === 0) createTables(db);
    return db;
  } catch (error) {
    db?.close();
    throw sqliteError('store-failed', `cannot open ${file}: ${sqliteReason(file, error)}`, error);
  }
}

/**
 * Opens the file without writing to it or its folder. SQLite reads a write-ahead log only with shared memory next to
 * the file. If that is missing, if the disk is full, or if the file is empty, a private copy is opened instead. `close`
 * removes the copy.
 * @throws StoreError `store-failed` as {@link openDatabase}
 */
export function openReadOnly(file: string, busyMs: number): { readonly db: Database; readonly close: () => void } {
  const direct = openDirectly(file, busyMs);
  if (direct !== null) return { db: direct, close: () => direct.close() };
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-read-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'copy.db');
    for (const end of ['', '-wal'])
      if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, `${copy}${end}`, constants.COPYFILE_FICLONE);
    const db = openDatabase(copy, busyMs);
    db.exec('PRAGMA query_only = ON');
    return {
      db,
      close: () => {
        db.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Opens the file itself for reading; null if only a copy of it can be read. */
function openDirectly(file: string, busyMs: number): Database | null {
  let db: Database | undefined;
  try {
    db = new (loadNodeSqlite().DatabaseSync)(file, { readOnly: true });
    db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyMs)}; PRAGMA trusted_schema = OFF`);
    if (assertStoreFile(db) === SCHEMA_VERSION) return db;
    db.close();
    return null;
  } catch (error) {
    db?.close();
    if ((isCannotOpenError(error) || isDiskFullError(file, error)) && existsSync(file)) return null;
    throw sqliteError('store-failed', `cannot open ${file}: ${(error as Error).message}`, error);
  }
}

function makePrivate(file: string): void {
  const existing = statSync(file, { throwIfNoEntry: false });
  // Any other kind of file is refused: a link could lead to a device, and the mode of a device must not be changed.
  if (existing && !existing.isFile()) throw new Error('it is not a regular file; move it away');
  if (existing) return (existing.mode & 0o077) === 0 ? undefined : chmodSync(file, 0o600);
  makeFolders(dirname(file), 0o700);
  try {
    // An existing file is never opened here: closing its descriptor would release this process's locks on the database.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  }
}

const pragma = (db: Database, key: string): number => Number(db.prepare(`PRAGMA ${key}`).get()?.[key]);

/** Returns the schema's version, 0 for an empty file. Throws if the file is not a store of this version. */
function assertStoreFile(db: Database): number {
  // In one transaction, because another process may create the tables between two reads.
  db.exec('BEGIN');
  const [version, application] = [pragma(db, 'user_version'), pragma(db, 'application_id')];
  const tables = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n']);
  db.exec('COMMIT');
  if (application !== APPLICATION_ID) {
    if (tables === 0) return 0;
    throw new Error('it is a database of another program; name another file');
  }
  if (version > SCHEMA_VERSION)
    throw new Error(`a newer hopgate wrote it (schema ${version}, this one knows ${SCHEMA_VERSION}); upgrade hopgate`);
  if (version < SCHEMA_VERSION) throw new Error(`its schema ${version} is from before 0.1.0; name another file`);
  return version;
}

/** The SQL of each table and index in a database, by `type name`. */
export function schemaOfDatabase(db: Database): ReadonlyMap<string, string> {
  const rows = db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .all();
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, String(sql).replace(/\s+/g, '')]));
}

/** The SQL of each table and index of the present schema, by `type name`. */
export function currentSqliteSchema(): ReadonlyMap<string, string> {
  const db = new (loadNodeSqlite().DatabaseSync)(IN_MEMORY_FILE);
  try {
    createTables(db);
    return schemaOfDatabase(db);
  } finally {
    db.close();
  }
}

function createTables(db: Database): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have created the tables in the meantime.
    if (pragma(db, 'user_version') === 0) db.exec(DDL);
    db.exec('COMMIT');
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // SQLite ends the transaction itself when the disk is full.
    }
    throw error;
  }
}
