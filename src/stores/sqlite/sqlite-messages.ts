import { isLeaseHolderGone, nameLeaseHolder } from '../../base/process-holder.ts';
import { findWaitCycle } from '../../messages/wait-cycle.ts';
import type { BlockedSender, MailPosition, Message, MessageStore, Receipt } from '../../ports/message-store.ts';
import { RECEIPT_STATES } from '../../spec/policy/receipt-states.ts';
import type { Database } from './node-sqlite.ts';
import { prepareAtFirstUse } from './statements.ts';

/** `holder` of a wait is the process that waits, so that other processes can detect its end. */
export const MESSAGE_TABLES = `
  CREATE TABLE messages (
    nth INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    recipient TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    act TEXT NOT NULL,
    sender TEXT NOT NULL,
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    ref TEXT,
    sent_at TEXT NOT NULL,
    state TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX messages_inbox ON messages (recipient, seq);
  CREATE INDEX messages_ref ON messages (ref, act, nth) WHERE ref IS NOT NULL;
  CREATE TABLE receipts (
    nth INTEGER PRIMARY KEY,
    sender TEXT NOT NULL,
    message TEXT NOT NULL,
    state TEXT NOT NULL,
    at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX receipts_sender ON receipts (sender, nth);
  CREATE TABLE waits (id TEXT PRIMARY KEY, waiter TEXT NOT NULL, target TEXT NOT NULL, until INTEGER NOT NULL, holder TEXT NOT NULL DEFAULT '') STRICT;
  CREATE TABLE nodes (name TEXT PRIMARY KEY) STRICT;
  CREATE TABLE people (name TEXT PRIMARY KEY) STRICT;
  INSERT INTO people VALUES ('operator');
`;

const COLUMNS = 'id, seq, kind, act, sender AS "from", author, recipient AS "to", text, ref, sent_at AS sentAt, state';

const SQL = {
  add: `INSERT INTO messages (id, recipient, seq, kind, act, sender, author, text, ref, sent_at, state)
    SELECT ?, ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ?, ?, ?, 'sent' FROM messages WHERE recipient = ?`,
  byId: `SELECT ${COLUMNS} FROM messages WHERE id = ?`,
  inbox: `SELECT ${COLUMNS} FROM messages WHERE recipient = ? AND seq > ? ORDER BY seq LIMIT ?`,
  unread: `SELECT ${COLUMNS} FROM messages WHERE recipient = ? AND seq > ? AND state IN ('sent', 'delivered') ORDER BY seq LIMIT ?`,
  countUnread: "SELECT count(*) AS n FROM messages WHERE recipient = ? AND state IN ('sent', 'delivered')",
  answer: `SELECT ${COLUMNS} FROM messages WHERE ref = ? AND act = 'answer' ORDER BY nth LIMIT 1`,
  mark: 'UPDATE messages SET state = ? WHERE id = ?',
  addReceipt: 'INSERT INTO receipts (sender, message, state, at) VALUES (?, ?, ?, ?)',
  receipts:
    'SELECT nth, message, state, at FROM receipts WHERE sender = ? AND nth > ? AND message = coalesce(?, message) ORDER BY nth',
  news: `SELECT EXISTS (SELECT 1 FROM messages WHERE recipient = ? AND seq > ?)
    OR EXISTS (SELECT 1 FROM receipts WHERE sender = ? AND nth > ?) AS news`,
  waits: 'SELECT id, waiter, target, until, holder FROM waits WHERE until > ?',
  addWait: 'INSERT OR REPLACE INTO waits (id, waiter, target, until, holder) VALUES (?, ?, ?, ?, ?)',
  dropWait: 'DELETE FROM waits WHERE id = ? OR until <= ?',
  dropWaitsOf: 'DELETE FROM waits WHERE substr(id, -length(:suffix)) = :suffix',
  nodes: 'SELECT name FROM nodes ORDER BY name',
  addNode: 'INSERT OR IGNORE INTO nodes VALUES (?)',
  lastPositions:
    'SELECT coalesce((SELECT max(nth) FROM messages), 0) AS message, coalesce((SELECT max(nth) FROM receipts), 0) AS receipt',
  mailMessages: `SELECT nth, ${COLUMNS} FROM messages AS mail
    WHERE nth > :after AND state = 'sent' AND substr(recipient, -length(:suffix)) = :suffix
      AND NOT EXISTS (SELECT 1 FROM messages WHERE ref = mail.id AND sender = 'node:' || substr(:suffix, 2))
    ORDER BY nth LIMIT :limit`,
  mailReceipts: `SELECT nth, message, state, at FROM receipts
    WHERE nth > :after AND state IN ('delivered', 'read') AND substr(sender, -length(:suffix)) = :suffix ORDER BY nth LIMIT :limit`,
  people: 'SELECT name FROM people ORDER BY name',
  addPerson: 'INSERT OR IGNORE INTO people VALUES (?)',
  erase: "UPDATE messages SET text = '' WHERE sender = ? OR recipient = ?",
};

/** The inboxes in the SQLite file of an evidence store. They use its connection and its transactions. */
export function sqliteMessages(
  db: Database,
  write: <T>(work: (now: number) => T) => Promise<T>,
  read: <T>(work: () => T) => T,
): MessageStore {
  const sql = prepareAtFirstUse(db, SQL);
  const row = (found: unknown): Message | null => (found ? ({ ...(found as Message) } as Message) : null);
  const rows = (found: readonly unknown[]) => found.map((each) => row(each)!);
  /** The senders that wait for an answer. A wait whose process has ended does not count. */
  const openWaits = (now: number): readonly BlockedSender[] =>
    sql.waits
      .all(now)
      .flatMap(({ holder, ...wait }) => (isLeaseHolderGone(String(holder)) ? [] : [wait as unknown as BlockedSender]));
  return {
    send: (draft) =>
      write((now) => {
        const known = row(sql.byId.get(draft.id));
        if (known) return known;
        const { id, to, kind, act, from, author, text, ref } = draft;
        const at = new Date(now).toISOString();
        sql.add.run(id, to, kind, act, from, author, text, ref, at, to);
        sql.addReceipt.run(from, id, 'sent', at);
        return row(sql.byId.get(id))!;
      }),
    inbox: async (address, { after = 0, unread = false, limit = -1 } = {}) =>
      read(() => rows((unread ? sql.unread : sql.inbox).all(address, after, limit))),
    countUnread: async (address) => read(() => Number(sql.countUnread.get(address)!['n'])),
    find: async (id) => read(() => row(sql.byId.get(id))),
    answerTo: async (id) => read(() => row(sql.answer.get(id))),
    mark: (id, state) =>
      write((now) => {
        const message = row(sql.byId.get(id));
        if (!message || RECEIPT_STATES.indexOf(message.state) >= RECEIPT_STATES.indexOf(state)) return false;
        sql.mark.run(state, id);
        sql.addReceipt.run(message.from, id, state, new Date(now).toISOString());
        return true;
      }),
    receipts: async (sender, after, message) =>
      read(() => sql.receipts.all(sender, after, message ?? null).map((each) => ({ ...each }) as unknown as Receipt)),
    hasNews: async (address, after) =>
      read(() => sql.news.get(address, after.seq, address, after.receipt)?.['news'] === 1),
    wait: (wait) =>
      write((now) => {
        const cycle = findWaitCycle(openWaits(now), wait, now);
        if (cycle === null) sql.addWait.run(wait.id, wait.waiter, wait.target, wait.until, nameLeaseHolder(''));
        return cycle;
      }),
    endWait: (id) => write((now) => void sql.dropWait.run(id, now)),
    waits: async (now) => read(() => openWaits(now)),
    putWaits: (node, waits) =>
      write(() => {
        sql.dropWaitsOf.run({ suffix: `@${node}` });
        for (const { id, waiter, target, until } of waits) sql.addWait.run(id, waiter, target, until, '');
      }),
    nodes: async () => read(() => sql.nodes.all().map(({ name }) => String(name))),
    addNode: (name) => write(() => void sql.addNode.run(name)),
    mailFor: async (node, after, limit) =>
      read(() => {
        // The last positions are read first. A message that another process adds later is found at the next call.
        const last = sql.lastPositions.get() as unknown as MailPosition;
        const found = sql.mailMessages.all({ suffix: `@${node}`, after: after.message, limit });
        const receipts = sql.mailReceipts.all({
          suffix: `@${node}`,
          after: after.receipt,
          limit,
        }) as unknown as Receipt[];
        return {
          messages: found.map(({ nth: _, ...message }) => message as unknown as Message),
          receipts: receipts.map((each) => ({ ...each })),
          positions: {
            message: found.length === limit ? Number(found.at(-1)!['nth']) : last.message,
            receipt: receipts.length === limit ? receipts.at(-1)!.nth : last.receipt,
          },
        };
      }),
    people: async () => read(() => sql.people.all().map(({ name }) => String(name))),
    addPerson: (name) => write(() => void sql.addPerson.run(name)),
    eraseTexts: (address) => write(() => void sql.erase.run(address, address)),
  };
}
