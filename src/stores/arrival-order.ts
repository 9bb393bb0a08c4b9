import { loadNodeSqlite } from './sqlite/node-sqlite.ts';

/** The position of an entry: among all entries of its store by order of arrival (`nth`), and in its session (`seq`). */
interface Arrival {
  readonly nth: number;
  readonly id: string;
  readonly sessionId: string;
  readonly seq: number;
}

/** Reads the order in which the entries of a store became durable, whichever process wrote them. */
export interface ArrivalOrder {
  /** The entries that arrived after the entry number `nth`, at most `limit` of them. */
  after(nth: number, limit: number): readonly Arrival[];
  /** The number of the newest entry; 0 if the store is empty. */
  last(): number;
  close(): void;
}

/** Opens a store's file to read the order in which its entries arrived. The file must exist. */
export function openArrivalOrder(file: string): ArrivalOrder {
  const db = new (loadNodeSqlite().DatabaseSync)(file, { readOnly: true });
  db.exec('PRAGMA busy_timeout = 1000; PRAGMA trusted_schema = OFF');
  const after = db.prepare(
    'SELECT nth, id, session_id AS sessionId, seq FROM entries WHERE nth > ? ORDER BY nth LIMIT ?',
  );
  const last = db.prepare('SELECT max(nth) AS nth FROM entries');
  return {
    after: (nth, limit) => after.all(nth, limit).map((row) => ({ ...row }) as unknown as Arrival),
    last: () => Number(last.get()?.['nth'] ?? 0),
    close: () => db.close(),
  };
}
