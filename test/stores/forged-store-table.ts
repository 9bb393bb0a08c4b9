import { hash } from 'node:crypto';
import type { EntryDraft } from '../../src/evidence/entry.ts';
import type { Json } from '../../src/spec/types.ts';

export type Finder = 'store' | 'chain' | 'audit' | 'gap' | 'seal' | 'error';

interface Row {
  readonly found: readonly Finder[];
  readonly note?: string;
}

const columns = (table: string, names: string, row: Row): { readonly [column: string]: Row } =>
  Object.fromEntries(names.split(' ').map((name) => [`${table}.${name}`, row]));

/** For each column of each table: the checks that report a changed value, or the reason why none does. */
export const COLUMNS: { readonly [column: string]: Row } = {
  ...columns('entries', 'nth id at late facets subject pattern_id fork_of', { found: ['store'] }),
  ...columns('entries', 'session_id seq', { found: ['store', 'chain', 'audit'] }),
  ...columns('entries', 'prev hash body', { found: ['chain'] }),
  ...columns('entries', 'head', { found: ['store', 'chain'] }),
  ...columns('sessions', 'session_id opening agent pin closed', { found: ['store'] }),
  ...columns('sessions', 'name archived', { found: [], note: 'a person may rename and archive sessions at any time' }),
  ...columns('blobs', 'hash bytes', { found: ['store'] }),
  ...columns('blobs', 'put_at', { found: [], note: 'it only says how long an unused blob is kept' }),
  ...columns('blob_references', 'id hash', { found: ['store'] }),
  ...columns('folds', 'session_id seq hash text digest', { found: ['store'] }),
  ...columns('leases', 'session_id holder until ttl digest', { found: ['store'] }),
  ...columns('ephemeral', 'id session_id at facets subject pattern_id in_reply_to fork_of head', { found: ['store'] }),
  ...columns('ephemeral', 'nth body', {
    found: [],
    note: 'ephemeral entries are outside of every chain, so nothing authenticates them',
  }),
  ...columns('messages', 'id recipient seq kind act sender author text ref sent_at state', { found: ['store'] }),
  ...columns('messages', 'nth', { found: [], note: 'the messages are in order of `seq`' }),
  ...columns('receipts', 'nth sender message state', { found: ['store'] }),
  ...columns('receipts', 'at', { found: [], note: 'the entries that record a receipt have a time of their own' }),
  ...columns('waits', 'id waiter target until holder', {
    found: [],
    note: 'a wait is not evidence; it ends by itself',
  }),
  ...columns('people', 'name', { found: [], note: 'the list of addresses is not evidence' }),
  ...columns('nodes', 'name', { found: [], note: 'the list of addresses is not evidence' }),
  ...columns('notes', 'rowid at code session_id message', {
    found: [],
    note: 'the operator log is outside of every chain, so nothing authenticates it',
  }),
};

interface Forgery extends Row {
  readonly what: string;
  readonly sql?: string;
  /** True to put back the kept state of the session before its last entry. */
  readonly isFoldOlder?: true;
  readonly drafts?: (drafts: EntryDraft[]) => EntryDraft[];
  /** Returns the bytes of the forged file. */
  readonly bytes?: (all: Buffer) => Buffer;
}

type Fields = { readonly [field: string]: Json };
const bodies =
  (change: (body: Fields) => Fields) =>
  (drafts: EntryDraft[]): EntryDraft[] =>
    drafts.map((draft) => ({ ...draft, body: change(draft.body as Fields) }));

/** The id of the newest message. */
const LAST = 'SELECT id FROM messages ORDER BY nth DESC LIMIT 1';

const ERASED = 'UPDATE entries SET body = NULL; DELETE FROM blob_references; DELETE FROM folds';

/** A message that nobody sent, with its first receipt. `sender`: an SQL expression. */
const made = (sender: string, recipient: string): string =>
  `INSERT INTO messages (id, recipient, seq, kind, act, sender, author, text, sent_at, state)
     SELECT 'm-made', '${recipient}', (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE recipient = '${recipient}'), kind, act, ${sender}, author, 'made up', sent_at, 'sent' FROM messages LIMIT 1;
   INSERT INTO receipts (sender, message, state, at) SELECT sender, id, state, sent_at FROM messages WHERE id = 'm-made'`;

export const FORGERIES: readonly Forgery[] = [
  { what: 'the first entry is removed', sql: 'DELETE FROM entries WHERE seq = 0', found: ['store', 'chain', 'audit'] },
  { what: 'an entry in the middle is removed', sql: 'DELETE FROM entries WHERE seq = 3', found: ['chain', 'audit'] },
  {
    what: 'the last entry is removed, with the message that it sent',
    sql: `DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries); DELETE FROM folds;
      DELETE FROM receipts WHERE message = (${LAST}); DELETE FROM messages WHERE id = (${LAST})`,
    found: ['seal'],
  },
  {
    what: 'the last entry is removed, with the message that it sent, and the kept state before it is put back',
    sql: `DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries); DELETE FROM folds;
      DELETE FROM receipts WHERE message = (${LAST}); DELETE FROM messages WHERE id = (${LAST})`,
    isFoldOlder: true,
    found: ['seal'],
  },
  {
    what: 'the last entry is removed, with the message that it sent, and the kept state stays',
    sql: `DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries);
      DELETE FROM receipts WHERE message = (${LAST}); DELETE FROM messages WHERE id = (${LAST})`,
    found: ['store'],
  },
  { what: "the session's row is removed", sql: 'DELETE FROM sessions', found: ['store'] },
  {
    what: 'a session is removed with all its entries',
    sql: 'DELETE FROM sessions; DELETE FROM entries',
    found: ['store', 'gap'],
  },
  {
    what: 'a session is removed from every table',
    sql: ['sessions', 'entries', 'folds', 'blob_references', 'messages', 'receipts', 'ephemeral']
      .map((table) => `DELETE FROM ${table}`)
      .join(';'),
    found: ['seal'],
  },
  {
    what: 'a pinned spec is removed',
    sql: 'DELETE FROM blobs WHERE hash IN (SELECT pin FROM sessions)',
    found: ['store'],
  },
  {
    what: 'a large result is removed',
    sql: 'DELETE FROM blobs WHERE hash IN (SELECT hash FROM blob_references)',
    found: ['chain'],
  },
  {
    what: 'a large result is another',
    sql: "UPDATE blobs SET bytes = x'00' WHERE hash IN (SELECT hash FROM blob_references)",
    found: ['store', 'chain'],
  },
  {
    what: 'an unused blob is added',
    sql: `INSERT INTO blobs VALUES ('${hash('sha256', '')}', x'', 0)`,
    found: [],
    note: 'no entry refers to it',
  },
  { what: 'a delivered message is removed', sql: "DELETE FROM messages WHERE id = 'm-1'", found: ['store'] },
  {
    what: 'an undelivered message of a session is removed',
    sql: `DELETE FROM receipts WHERE message = (${LAST}); DELETE FROM messages WHERE id = (${LAST})`,
    found: ['store'],
  },
  {
    what: 'the text of an undelivered message of a session is another',
    sql: `UPDATE messages SET text = 'other' WHERE id = (${LAST})`,
    found: ['store'],
  },
  {
    what: "a message is made up in a session's name, with its receipt",
    sql: made('$address', 'person:operator'),
    found: ['gap'],
  },
  {
    what: 'a message is made up in the name of a session that does not exist',
    sql: made("'session:none'", 'person:operator'),
    found: ['store'],
  },
  {
    what: 'a message is made up in the name of a person, with its receipt, and not delivered yet',
    sql: made("'person:operator'", 'person:ann'),
    found: [],
    note: 'people keep no evidence; who may write the file may also ring as a person',
  },
  {
    what: 'an undelivered message of a person is another',
    sql: "UPDATE messages SET text = 'other', author = 'bob' WHERE id = 'm-social'",
    found: [],
    note: 'people keep no evidence',
  },
  {
    what: 'the last undelivered message of a person is removed, with everything that the social pipeline kept of it',
    sql: `DELETE FROM ephemeral WHERE subject = 'evidence m-social'; DELETE FROM receipts WHERE message = 'm-social';
      DELETE FROM messages WHERE id = 'm-social'`,
    found: [],
    note: 'people keep no evidence',
  },
  {
    what: 'the dispatch and the outcome of a message of a person are removed',
    sql: "DELETE FROM ephemeral WHERE subject = 'evidence m-social'",
    found: [],
    note: 'the message is then as one that the person sent without the social pipeline',
  },
  {
    what: 'the position of a message in its inbox is another',
    sql: "UPDATE messages SET seq = seq + 1 WHERE id = 'm-social'",
    found: ['store'],
  },
  {
    what: 'a receipt is made up with the state that it gives',
    sql: `INSERT INTO receipts (sender, message, state, at) SELECT sender, id, 'answered', sent_at FROM messages WHERE id = (${LAST});
      UPDATE messages SET state = 'answered' WHERE id = (${LAST})`,
    found: ['store'],
  },
  {
    what: 'a receipt that its sender has not recorded is removed',
    sql: `DELETE FROM receipts WHERE message = (${LAST})`,
    found: ['store'],
  },
  {
    what: 'the receipt of a delivery is removed, and the message was read',
    sql: "DELETE FROM receipts WHERE message = 'm-1' AND state = 'delivered'",
    found: ['gap'],
  },
  {
    what: 'the last receipt of a sender, which it has not recorded, gets the number 0',
    sql: `UPDATE receipts SET nth = 0 WHERE message = (${LAST})`,
    found: ['store'],
  },
  {
    what: "the first receipt of a person's message gets the number -1",
    sql: "UPDATE receipts SET nth = -1 WHERE message = 'm-1' AND state = 'sent'",
    found: ['store'],
  },
  {
    what: "the last receipt of a sender, which it has not recorded, changes places with a person's receipt",
    sql: `UPDATE receipts SET nth = -1 WHERE message = (${LAST});
      UPDATE receipts SET nth = (SELECT max(nth) + 2 FROM receipts) WHERE message = 'm-social' AND state = 'sent';
      UPDATE receipts SET nth = (SELECT min(each.nth) + 1 FROM receipts each
        WHERE NOT EXISTS (SELECT 1 FROM receipts other WHERE other.nth = each.nth + 1) AND each.nth > 0) WHERE nth = -1`,
    found: ['store'],
  },
  {
    what: 'the last receipt of a sender, which it has not recorded, is said to be newer',
    sql: `UPDATE receipts SET nth = nth + 1000000 WHERE message = (${LAST})`,
    found: [],
    note: 'only the order of the receipts of one message is evidence',
  },
  {
    what: 'the last entry of a session is said to have arrived later',
    sql: 'UPDATE entries SET nth = nth + 1000000 WHERE seq = (SELECT max(seq) FROM entries)',
    found: [],
    note: 'only the order of the entries of one session is evidence',
  },
  {
    what: 'a kept state is removed',
    sql: 'DELETE FROM folds',
    found: [],
    note: 'the session is then resumed from its entries',
  },
  {
    what: 'a message is said to be delivered to a session that never got it',
    sql: `${made("'person:operator'", 'session:none')};
      INSERT INTO receipts (sender, message, state, at) SELECT sender, id, 'delivered', sent_at FROM messages WHERE id = 'm-made';
      UPDATE messages SET state = 'delivered' WHERE id = 'm-made'`,
    found: ['gap'],
  },
  {
    what: 'the outcome of a message of the social pipeline is removed',
    sql: "DELETE FROM ephemeral WHERE id = 'outcome-m-social'",
    found: ['gap'],
  },
  {
    what: 'the dispatch of a message of the social pipeline is removed',
    sql: "DELETE FROM ephemeral WHERE id = 'dispatch-m-social'",
    found: ['store'],
  },
  {
    what: 'a message that the social pipeline sent is removed, with its receipts',
    sql: "DELETE FROM receipts WHERE message = 'm-social'; DELETE FROM messages WHERE id = 'm-social'",
    found: ['store'],
  },
  {
    what: 'the outcome of a message is filed under another message',
    sql: `UPDATE ephemeral SET subject = 'evidence m-1', head = json_set(head, '$.subject.id', 'm-1')
      WHERE id = 'outcome-m-social'`,
    found: ['store'],
  },
  ...(
    [
      ['a dispatch names another recipient than the message', 'dispatch', 'to', 'person:operator'],
      ['a dispatch names another sender than the message', 'dispatch', 'from', 'person:bob'],
      ['a dispatch calls coordination an action', 'dispatch', 'talk', 'action'],
      ['an outcome is of another type', 'outcome', 'type', 'task-submission'],
      ['an outcome names a later receipt than the message has', 'outcome', 'state', 'answered'],
      ['an outcome names a message that was not sent', 'outcome', 'sent', 'm-none'],
    ] as const
  ).map(([what, event, field, value]): Forgery => {
    const sql = `UPDATE ephemeral SET body = json_set(body, '$.${field}', '${value}') WHERE id = '${event}-m-social'`;
    return { what, sql, found: ['store'] };
  }),
  {
    what: 'a dispatch is made up',
    sql: `INSERT INTO ephemeral (id, session_id, at, facets, subject, head, body)
      SELECT 'dispatch-m-made', session_id, at, facets, 'evidence m-made',
        json_set(head, '$.id', 'dispatch-m-made', '$.subject.id', 'm-made'), json_set(body, '$.message', 'm-made')
      FROM ephemeral WHERE id = 'dispatch-m-social'`,
    found: ['gap'],
  },
  {
    what: 'a lease is made up, with an end that a writer could ask for',
    sql: "INSERT INTO leases (session_id, holder, until, ttl) SELECT $session, 'nobody', until, ttl FROM leases LIMIT 1",
    found: ['store'],
  },
  {
    what: "another session's lease is copied, with its code",
    sql: 'INSERT INTO leases SELECT $session, holder, until, ttl, digest FROM leases LIMIT 1',
    found: ['store'],
  },
  {
    what: 'a lease is said to have ended',
    sql: 'UPDATE leases SET until = 1',
    found: [],
    note: 'the same as a lease that is removed or released: its writer takes it again, or learns that another one wrote meanwhile',
  },
  {
    what: 'the body of the end of a visit is erased',
    sql: "UPDATE entries SET body = NULL WHERE body ->> '$.event' = 'stop'; DELETE FROM folds",
    found: ['gap'],
  },
  { what: 'a body is erased', sql: 'UPDATE entries SET body = NULL WHERE seq = 3', found: ['gap'] },
  {
    what: 'a body is erased, and the session is said to have no pinned spec',
    sql: `${ERASED}; UPDATE sessions SET pin = ''`,
    found: ['store', 'gap'],
  },
  {
    what: 'all bodies are erased, and the session is of another agent and closed',
    sql: `${ERASED}; UPDATE sessions SET agent = 'other', closed = 1`,
    found: ['store', 'gap'],
  },
  {
    what: 'all bodies are erased, and the session has another pinned spec of the store',
    sql: `${ERASED}; UPDATE sessions SET pin = (SELECT hash FROM blobs WHERE hash <> pin LIMIT 1)`,
    found: ['gap'],
  },
  {
    what: 'the mode of an ephemeral entry is another',
    sql: "UPDATE ephemeral SET head = json_set(head, '$.mode', 'execute')",
    found: [],
    note: 'ephemeral entries are outside of every chain, so nothing authenticates them',
  },
  {
    what: 'an ephemeral entry is removed that belongs to no message',
    sql: "DELETE FROM ephemeral WHERE id = 'e-0'",
    found: [],
    note: 'ephemeral entries are outside of every chain, so nothing authenticates them',
  },
  {
    what: 'a line of the operator log, a wait or an address is removed or added',
    sql: "DELETE FROM notes; DELETE FROM waits; DELETE FROM nodes; INSERT INTO people VALUES ('bob')",
    found: [],
    note: 'none of them is evidence',
  },
  {
    what: 'the last number that an ephemeral entry got is another',
    sql: 'UPDATE sqlite_sequence SET seq = 0',
    found: [],
    note: 'no entry shows the number',
  },
  {
    what: 'the size of the pages is another',
    sql: 'PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM',
    found: [],
    note: 'the content is the same',
  },
  { what: 'the version of the schema is another', sql: 'PRAGMA user_version = 9', found: ['error'] },
  { what: 'the file is emptied or removed', bytes: () => Buffer.alloc(0), found: ['seal'] },
  { what: 'the file is another database', bytes: (all) => Buffer.alloc(all.length, 'x'), found: ['error'] },
  { what: 'an index is removed', sql: 'DROP INDEX entries_late', found: ['store'] },
  {
    what: 'a table has another constraint',
    sql: `ALTER TABLE people RENAME TO old; CREATE TABLE people (name TEXT PRIMARY KEY ON CONFLICT REPLACE) STRICT;
      INSERT INTO people SELECT name FROM old; DROP TABLE old`,
    found: ['store'],
  },
  {
    what: 'an index is another',
    sql: 'DROP INDEX entries_session; CREATE INDEX entries_session ON entries (session_id, seq)',
    found: ['store'],
  },
  {
    what: 'a trigger is added',
    sql: 'CREATE TRIGGER lose AFTER INSERT ON entries BEGIN DELETE FROM entries; END',
    found: ['store'],
  },
  {
    what: 'a time is too large for JavaScript',
    sql: 'UPDATE entries SET at = 9007199254740993 WHERE seq = 3',
    found: ['store', 'gap'],
  },
  {
    what: 'a page is overwritten',
    bytes: (all) => all.fill(0x41, 3 * 4096 + 100, 4 * 4096),
    found: ['store', 'error'],
  },
  { what: 'the file is cut off', bytes: (all) => all.fill(0, all.length - 3 * 4096), found: ['store', 'error'] },
  {
    what: 'the result of a step is another, with all hashes computed again',
    drafts: bodies((body) =>
      body['event'] === 'outcome'
        ? { ...body, outcome: { status: 'ok', result: { path: 'src/a.ts', forged: true } } }
        : body,
    ),
    found: ['seal'],
  },
  {
    what: 'a refusal is another, with all hashes computed again',
    drafts: bodies((body) => (body['event'] === 'denial' ? { ...body, code: 'limit-reached' } : body)),
    found: ['audit'],
  },
  {
    what: 'the root is another, with all hashes computed again',
    drafts: bodies((body) => (body['event'] === 'session-open' ? { ...body, root: '/' } : body)),
    found: ['seal'],
  },
  {
    what: 'the tags are removed, with all hashes computed again',
    drafts: (drafts) => drafts.map((draft) => ({ ...draft, tags: [] })),
    found: ['store', 'audit'],
  },
];

const WORDS: { readonly [finder in Finder]: string } = {
  store: 'check of the store',
  chain: 'hash chain',
  audit: 'audit against the pinned spec',
  gap: 'a gap (fails with `--strict`)',
  seal: '**only a seal**',
  error: 'verify stops with an error',
};

const inWords = ({ found, note }: Row): string =>
  found.length > 0 ? found.map((finder) => WORDS[finder]).join(', ') : `nothing: ${note}`;

/** The page of the documentation with both tables. */
export function writePage(): string {
  const byRow = Map.groupBy(Object.entries(COLUMNS), ([column, row]) => `${column.split('.')[0]}|${inWords(row)}`);
  const columnRows = [...byRow].map(([key, all]) => {
    const [table, words] = key.split('|');
    return `| \`${table}\` | ${all.map(([column]) => `\`${column.split('.')[1]}\``).join(', ')} | ${words} |`;
  });
  return `# What \`hopgate verify\` finds

Somebody who can write the file of the evidence can change anything in it. This page lists the checks that report each
change. A test makes each change in a copy of a real store and compares; it also fails for a column without a row.

Some changes are consistent in themselves: entries cut off at the end, or a chain whose hashes were all recomputed.
Only a seal that is kept elsewhere shows them (\`hopgate seal\`, then \`hopgate verify ID --seal FILE --key FILE\`).
In these rows the kept state is removed or an older one is put back, because the newest one would show that the chain was
cut off or recomputed.
Without the write-ahead log (\`evidence.db-wal\`) the newest entries are missing, as if they were cut off.
A key outside of the store (\`$XDG_STATE_HOME/hopgate/kept-states.key\`) authenticates a writer's lease and the kept
state, which makes resuming faster; agent, root, sandbox and pin always come from the first entry.
An expired lease is not judged, because it gives nobody a right. A session cannot be resumed if its first entry, the
entry that its kept state names, or a later one was changed or removed; without a kept state, if any entry was.

## Whole rows and the file

| Change | Found by |
|---|---|
${FORGERIES.map((row) => `| ${row.what} | ${inWords(row)} |`).join('\n')}

## Single values

| Table | Columns | Found by |
|---|---|---|
${columnRows.join('\n')}
`;
}
