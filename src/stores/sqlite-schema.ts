import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { storeError } from './append-rules.ts';
import { type Database, isBusy, nodeSqlite } from './node-sqlite.ts';

/** What this version reads and writes; kept in `user_version`. */
export const SCHEMA_VERSION = 1;
/** "hpgt", so that `file` and we can tell our files from others'. */
const APPLICATION_ID = 0x68706774;

/**
 * An entry is four texts; every other column is computed from the hashed bytes by SQLite itself, so that no column can tell another story than
 * the chain. Each index costs every append a page, so there are few: one in order of time covers the filters with few values (it is scanned
 * alone, newest first), and entries about their own session are found by session.
 */
const DDL = `
  CREATE TABLE entries (
    rowid INTEGER PRIMARY KEY,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    head TEXT NOT NULL,
    body TEXT,
    id TEXT NOT NULL GENERATED ALWAYS AS (head ->> '$.id') VIRTUAL UNIQUE,
    session_id TEXT NOT NULL GENERATED ALWAYS AS (head ->> '$.sessionId') VIRTUAL,
    seq INTEGER NOT NULL GENERATED ALWAYS AS (head ->> '$.seq') VIRTUAL,
    at TEXT GENERATED ALWAYS AS (head ->> '$.at') VIRTUAL,
    type TEXT GENERATED ALWAYS AS (head ->> '$.type') VIRTUAL,
    claim TEXT GENERATED ALWAYS AS (head ->> '$.claim') VIRTUAL,
    author TEXT GENERATED ALWAYS AS (head ->> '$.author') VIRTUAL,
    subject_type TEXT GENERATED ALWAYS AS (head ->> '$.subject.type') VIRTUAL,
    subject_id TEXT GENERATED ALWAYS AS (head ->> '$.subject.id') VIRTUAL,
    pattern_id TEXT GENERATED ALWAYS AS (head ->> '$.patternId') VIRTUAL,
    in_reply_to TEXT GENERATED ALWAYS AS (head ->> '$.inReplyTo') VIRTUAL,
    event TEXT GENERATED ALWAYS AS (body ->> '$.event') VIRTUAL,
    UNIQUE (session_id, seq)
  ) STRICT;
  CREATE INDEX entries_at ON entries (at, type, claim, author);
  CREATE INDEX entries_subject ON entries (subject_id, subject_type) WHERE subject_id <> session_id;
  CREATE INDEX entries_pattern ON entries (pattern_id) WHERE pattern_id IS NOT NULL;
  CREATE INDEX entries_reply ON entries (in_reply_to) WHERE in_reply_to IS NOT NULL;
  CREATE INDEX entries_opening ON entries (at) WHERE seq = 0;
  CREATE INDEX entries_closing ON entries (session_id) WHERE event = 'session-closed';
  CREATE TABLE leases (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL, ttl INTEGER NOT NULL) STRICT;
  CREATE TABLE blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE notes (
    rowid INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    code TEXT NOT NULL,
    session_id TEXT,
    message TEXT NOT NULL
  ) STRICT;
`;

/**
 * Opens the file, made with mode 0600 in a folder of mode 0700 if they are not there, and brings it to our schema.
 * @throws StoreError `store-failed` for a file of a newer version, of another program, or one that cannot be opened.
 */
export function openDatabase(name: string, file: string, busyMs: number): Database {
  let db: Database | undefined;
  try {
    makePrivate(file);
    db = new (nodeSqlite().DatabaseSync)(file);
    db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyMs)}; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF`);
    assertOurs(db);
    switchToWal(db, Date.now() + busyMs);
    db.exec('PRAGMA synchronous = FULL');
    if (pragma(db, 'user_version') < SCHEMA_VERSION) migrate(db);
    return db;
  } catch (error) {
    db?.close();
    throw storeError(name, 'store-failed', `cannot open ${file}: ${(error as Error).message}`, error);
  }
}

function makePrivate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    // Only ever opened when new: closing a descriptor of a database drops the locks that this process has on it.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  }
}

/** The switch needs the file for itself for a moment and does not wait for it as other statements do. */
function switchToWal(db: Database, deadline: number): void {
  for (;;) {
    try {
      const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
      if (mode === 'wal') return;
      throw new Error(
        `the file system does not support write-ahead logging (journal mode ${mode}); put it on a local disk`,
      );
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

const pragma = (db: Database, key: string): number => Number(db.prepare(`PRAGMA ${key}`).get()?.[key]);

/** Before anything is changed: the file is empty or ours, and not newer than we are. */
function assertOurs(db: Database): void {
  const tables = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n']);
  if (tables === 0) return;
  if (pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new Error('it is a database of another program; name another file');
  }
  const version = pragma(db, 'user_version');
  if (version > SCHEMA_VERSION) {
    throw new Error(`a newer hopgate wrote it (schema ${version}, this one knows ${SCHEMA_VERSION}); upgrade hopgate`);
  }
}

function migrate(db: Database): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    if (pragma(db, 'user_version') === 0) {
      db.exec(DDL);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}
