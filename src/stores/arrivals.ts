import { nodeSqlite } from './sqlite/node-sqlite.ts';

/** One entry's position: in its store by order of arrival, and in its session. */
export interface Arrival {
  readonly nth: number;
  readonly id: string;
  readonly sessionId: string;
  readonly seq: number;
}

/** The order in which the entries of a store became durable, whichever process wrote them. */
export interface Arrivals {
  /** The entries that arrived after `nth`, at most `limit`. */
  after(nth: number, limit: number): readonly Arrival[];
  /** The newest `nth`; 0 if the store is empty. */
  last(): number;
  close(): void;
}

/** Opens a store's file to read the order in which its entries arrived. The file must exist. */
export function arrivalsOf(file: string): Arrivals {
  const db = new (nodeSqlite().DatabaseSync)(file, { readOnly: true });
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
