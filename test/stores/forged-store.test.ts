import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { valueOr } from '../../src/base/value-or.ts';
import { buildChainedEntries, parseStoredEntry, type StoredBytes } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type EntryDraft } from '../../src/evidence/entry.ts';
import { MerkleFrontier, merkleLeafOfEntry } from '../../src/evidence/merkle.ts';
import { newSealKey, signChainHead } from '../../src/evidence/seal.ts';
import { sendBell } from '../../src/messages/send-message.ts';
import { resumeSession } from '../../src/session/create-session.ts';
import { sendSocialMessage } from '../../src/social/pipeline.ts';
import { hashSpecs } from '../../src/spec/hash-specs.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { messagesBackend } from '../../src/tools/messages/messages-backend.ts';
import { CONFIG, changed, fixtureSpecs, lead, must, stage, TestClock } from '../session/sessions.ts';
import { COLUMNS, type Finder, FORGERIES, writePage } from './forged-store-table.ts';

let folder: string;
let id: string;
/** The session's kept state before its last entry: a row of the table of kept states. */
let olderFold: SQLOutputValue[];
const clock = new TestClock();
const KEY = newSealKey();
const { tools } = await loadSpecs('specs');
const { edit } = fixtureSpecs.peripherals;
const { hash: _, ...fixture } = fixtureSpecs;
const withBell = {
  ...fixture,
  tools: { ...fixtureSpecs.tools, bell: tools['bell']!, whistle: tools['whistle']! },
  peripherals: { ...fixtureSpecs.peripherals, edit: { ...edit!, tools: [...edit!.tools, 'bell', 'whistle'] } },
};
/** The fixture specs, with a bell and a whistle in edit. */
const SPECS: SpecSet = { ...withBell, hash: hashSpecs(withBell) };
const PINNED = { specs: SPECS, config: CONFIG };
const fileOf = (name: string) => join(folder, name, 'evidence.db');
const open = (file: string, readOnly = false) =>
  sqliteStore(file, { clock, keyFile: join(folder, 'kept-states.key'), readOnly });

/** One store with rows in each table: a session with steps and refusals, reopened and released. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-forged-'));
  const store = open(fileOf('honest'));
  const text = 'long '.repeat(10_000);
  const scripted = scriptedBackend({ edit: changed('src/a.ts'), read: { path: 'src/a.ts', text } });
  const on = await stage({ specs: SPECS, store, clock, backends: [scripted, messagesBackend(store)] });
  id = on.session.id;
  const address = `session:${id}`;
  const { messages } = store;
  await lead(on.session, 'edit');
  const draft = { kind: 'bell', act: 'assert', author: 'operator', text: 'hello', ref: null } as const;
  await messages!.send({ ...draft, id: 'm-1', to: address, from: 'person:operator' });
  await store.appendEphemeral(id, [
    { id: 'e-0', type: 'presence-event', claim: 'observation', author: 'ann', body: { at: 1 } },
  ]);
  await messages!.addPerson('ann');
  await messages!.addNode('laptop');
  const services = { store, messages: messages!, now: () => clock.now(), opener: null };
  const cli = { transport: 'cli', principal: 'operator', name: 'operator' } as const;
  await must(sendSocialMessage(services, cli, { id: 'm-social', to: 'person:ann', payload: 'Who owns the deploy?' }));
  const whistle = on.session.step({ tool: 'whistle', args: { to: 'operator', text: 'first', seconds: 60 } });
  const [asked] = await vi.waitUntil(() => messages!.inbox('person:operator').then((all) => all.length > 0 && all));
  const answer = { ...draft, act: 'answer', id: 'm-answer', from: 'person:operator', ref: asked!.id } as const;
  await sendBell(messages!, { ...answer, to: address });
  await must(whistle);
  await must(on.session.acknowledge(['m-1']));
  await must(on.session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
  await must(on.session.step({ tool: 'read', args: { path: 'src/a.ts' } }));
  await on.session.step({ tool: 'read', args: { path: '/etc/passwd' } });
  await on.session.detach();
  const early = new DatabaseSync(fileOf('honest'));
  olderFold = Object.values(early.prepare('SELECT * FROM folds').get()!);
  early.close();
  const again = await on.reopen();
  // The outcome of this bell is not recorded.
  await must(again.step({ tool: 'bell', args: { to: 'operator', text: 'last' } }));
  await again.detach();
  await messages!.wait({ id: 'w-1', waiter: 'ann', target: address, until: clock.now() + 1000 });
  await store.note({ at: new Date(clock.now()).toISOString(), code: 'note', sessionId: id, message: 'm' });
  await store.acquire('s-other', 'somebody', 30_000);
  await store.close();
  const db = new DatabaseSync(fileOf('honest'));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the store, changed by `change`. */
function forged(name: string, change: (db: DatabaseSync, file: string) => void): string {
  const file = fileOf('honest').replace('evidence.db', `${name.replace(/\W+/g, '-')}.db`);
  copyFileSync(fileOf('honest'), file);
  const db = new DatabaseSync(file);
  db.exec('PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON');
  change(db, file);
  if (db.isOpen) db.close();
  return file;
}

/** Everything that reports a forged store. */
async function findersOf(file: string): Promise<readonly Finder[]> {
  const found: Finder[] = [];
  const store = valueOr(() => open(file), null);
  if (store === null) return ['error'];
  try {
    const problems = await store.problems!();
    if (problems.some(({ isGap }) => !isGap)) found.push('store');
    const sealed = { seal: await honestSeal(), publicKey: KEY.publicKey };
    const options = { seal: sealed, getBlob: (hash: string) => store.getBlob(hash) };
    const result = await verifySession(id, PINNED, store.entries(id), options);
    if (result.chain.length > 0) found.push('chain');
    if (!result.audit.ok) found.push('audit');
    const isErased = result.audit.gaps.some(({ kind }) => kind === 'erased');
    if (isErased || problems.some(({ isGap }) => isGap)) found.push('gap');
    if (result.seal !== null && found.length === 0) found.push('seal');
  } catch {
    found.push('error');
  } finally {
    await store.close();
  }
  return found;
}

async function honestSeal() {
  const store = open(fileOf('honest'), true);
  const tree = new MerkleFrontier();
  let head = EMPTY_CHAIN;
  for await (const { entry } of store.entries(id)) {
    tree.add(merkleLeafOfEntry(entry));
    head = { seq: entry.seq, hash: entry.hash };
  }
  await store.close();
  return signChainHead({ sessionId: id, head, root: tree.root() }, KEY.privateKey, 0);
}

/** Rewrites the session's entries, with every hash computed again. */
function recompute(db: DatabaseSync, change: (drafts: EntryDraft[]) => EntryDraft[]): void {
  db.exec('DELETE FROM folds');
  const rows = db.prepare('SELECT head, body, prev, hash FROM entries WHERE session_id = ? ORDER BY seq').all(id);
  const drafts = rows.map((row): EntryDraft => {
    const { seq, bodyHash, prev, hash, ...draft } = parseStoredEntry(row as unknown as StoredBytes).entry;
    return draft;
  });
  const set = db.prepare('UPDATE entries SET head = ?, body = ?, prev = ?, hash = ? WHERE session_id = ? AND seq = ?');
  for (const { entry, head, body } of buildChainedEntries(EMPTY_CHAIN, change(drafts)))
    set.run(head, body, entry.prev, entry.hash, id, entry.seq);
}

it('an unchanged store causes no finding', async () => expect(await findersOf(forged('same', () => {}))).toEqual([]));

/** The row to change in each table; by default the first. */
const WHICH: { readonly [table: string]: string } = {
  entries: 'WHERE seq = 3',
  receipts: "WHERE sender LIKE 'session:%'",
};

it('each column of the store has a row in the table of this test, and the named check finds a change of the column', async () => {
  const db = new DatabaseSync(fileOf('honest'), { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
  const columns = tables.flatMap(({ name: table }) =>
    db
      .prepare('SELECT name, type FROM pragma_table_info(?)')
      .all(String(table))
      .map(({ name, type }) => ({ table: String(table), column: String(name), type: String(type) })),
  );
  for (const { name } of tables) expect(db.prepare(`SELECT 1 FROM ${name}`).get(), `${name} is empty`).toBeDefined();
  db.close();
  const listed = columns.map(({ table, column }) => `${table}.${column}`).sort();
  const found: { [column: string]: readonly Finder[] } = {};
  for (const { table, column, type } of columns) {
    const value =
      type === 'INTEGER'
        ? `coalesce(${column}, 0) + 1000000000000`
        : type === 'BLOB'
          ? "x'00'"
          : `coalesce(${column}, '') || 'x'`;
    const [key] = table === 'blob_references' ? ['id'] : ['rowid'];
    const row = `SELECT min(${key}) FROM ${table} ${WHICH[table] ?? ''}`;
    const file = forged(`${table}-${column}`, (copy) =>
      copy.exec(`UPDATE ${table} SET ${column} = ${value} WHERE ${key} = (${row})`),
    );
    found[`${table}.${column}`] = await findersOf(file);
  }
  expect(listed).toEqual(Object.keys(COLUMNS).sort());
  expect(found).toEqual(Object.fromEntries(Object.entries(COLUMNS).map(([column, { found }]) => [column, found])));
});

it.each([
  'DELETE FROM entries WHERE seq = 3',
  'DELETE FROM entries WHERE seq = 0',
  'UPDATE entries SET prev = hash WHERE seq = 3',
  'UPDATE entries SET hash = prev WHERE seq = 3',
  "UPDATE entries SET body = json_set(body, '$.added', 1) WHERE seq = 3",
  "UPDATE entries SET head = json_set(head, '$.mode', 'EXECUTE', '$.at', '2026-01-01T00:00:00.001Z') WHERE seq = 3",
  'UPDATE entries SET body = (SELECT body FROM entries AS other WHERE other.seq = 4) WHERE seq = 3',
])('a store refuses to resume a session after %s', async (sql) => {
  const file = forged(`resume-${sql}`, (db) => {
    db.exec(`DELETE FROM folds; ${sql}`);
    expect(db.prepare('SELECT changes() AS changed').get()).toEqual({ changed: 1 });
  });
  const store = open(file, true);
  const parts = { store, clock, ids: { next: (kind: string) => `${kind}-again` }, backends: [], approver: null };
  await expect(resumeSession(parts, id)).rejects.toMatchObject({ code: 'store-failed' });
  await store.close();
});

it.each(FORGERIES)(
  'the forgery "$what" is found by $found',
  async ({ what, found, sql, drafts, bytes, isFoldOlder }) => {
    const file = forged(what, (db, path) => {
      if (sql !== undefined) db.exec(sql.replaceAll('$session', `'${id}'`).replaceAll('$address', `'session:${id}'`));
      if (isFoldOlder) db.prepare('INSERT INTO folds VALUES (?, ?, ?, ?, ?)').run(...olderFold);
      if (drafts) recompute(db, drafts);
      if (!bytes) return;
      db.close();
      const all = readFileSync(path);
      writeFileSync(path, bytes(all));
    });
    expect(await findersOf(file)).toEqual(found);
  },
);

it('the page what-verify-finds.md lists every forgery with the check that finds it', async () => {
  await expect(writePage()).toMatchFileSnapshot('../../docs/what-verify-finds.md');
});
