import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import type { EvidenceStore, StoredFold } from '../../src/ports/evidence-store.ts';
import { readStoredState } from '../../src/session/state/stored-state.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { lead, must, type Stage, stage, TestClock } from './sessions.ts';

let folder: string;
let keyFile: string;
let store: EvidenceStore;
let db: DatabaseSync;
let on: Stage;
let id: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-kept-'));
  keyFile = join(folder, 'elsewhere', 'key');
  const clock = new TestClock();
  const file = join(folder, 'evidence.db');
  store = sqliteStore(file, { clock, keyFile });
  on = await stage({ store, clock });
  id = on.session.id;
  await lead(on.session, 'edit');
  await must(on.session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
  await on.session.detach();
  db = new DatabaseSync(file);
});
afterEach(async () => {
  db.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The kept state with one value changed, as a writer with the key would have stored it. */
function keep(change: (fold: { head: { seq: number; hash: string }; text: string }) => void): void {
  const row = db.prepare('SELECT seq, hash, text FROM folds WHERE session_id = ?').get(id)!;
  const fold = { head: { seq: Number(row['seq']), hash: String(row['hash']) }, text: String(row['text']) };
  change(fold);
  const { head, text } = fold;
  const key = readFileSync(keyFile);
  const digest = createHmac('sha256', key).update(`${id}\n${head.seq}\n${head.hash}\n${text}`).digest('hex');
  db.prepare('UPDATE folds SET seq = ?, hash = ?, text = ?, digest = ? WHERE session_id = ?').run(
    head.seq,
    head.hash,
    text,
    digest,
    id,
  );
}

/** The kept state with a visible change. */
function lie(fold: { text: string }, more: (kept: { state: { head: StoredFold['head'] } }) => void = () => {}): void {
  const kept = JSON.parse(fold.text);
  kept.state.facts.steps = 77;
  more(kept);
  fold.text = JSON.stringify(kept);
}

const steps = async (): Promise<number> => (await on.reopen()).state.steps;

describe('a reopened session', () => {
  it('uses the state that was stored at its release', async () => {
    keep((fold) => lie(fold));
    expect(await steps()).toBe(77);
  });

  it('folds newer entries on top of the stored state', async () => {
    const fold = await store.keptFold?.(id);
    const again = await on.reopen();
    await must(again.step({ tool: 'read', args: { path: 'src/a.ts' } }));
    const { steps: expected } = again.state;
    await again.detach();
    // The state that remains if the last writer is killed before it releases the session.
    keep((now) => Object.assign(now, fold));
    keep((now) => lie(now));
    expect(await steps()).toBe(78);
    keep((now) => Object.assign(now, fold));
    expect(await steps()).toBe(expected);
  });

  it.each<[string, () => void]>([
    [
      'that says another head than its state',
      () => keep((fold) => lie(fold, ({ state }) => (state.head = { ...state.head, seq: 0 }))),
    ],
    [
      'of another session',
      () => keep((fold) => lie(fold, (kept) => Object.assign((kept as never)['state']['facts'], { sessionId: 'x' }))),
    ],
    ['of another version', () => keep((fold) => lie(fold, (kept) => Object.assign(kept, { format: '0.0.0 1' })))],
    [
      'that a writer without the key made up',
      () => {
        const row = db.prepare('SELECT seq, hash, text FROM folds').get()!;
        const text = String(row['text']).replace('"steps":1', '"steps":77');
        const forged = createHash('sha256').update(`${id}\n${row['seq']}\n${row['hash']}\n${text}`).digest('hex');
        db.prepare('UPDATE folds SET text = ?, digest = ?').run(text, forged);
      },
    ],
    ['that is damaged', () => db.exec(`UPDATE folds SET text = replace(text, '"steps":', '"steps":7')`)],
    ['that is cut off', () => db.exec('UPDATE folds SET text = substr(text, 1, 100)')],
  ])('ignores a stored state %s and folds its evidence', async (_what, forge) => {
    const { state } = on.session;
    forge();
    expect(await readStoredState(store, id)).toBeNull();
    expect(await steps()).toBe(state.steps);
  });

  it.each<[string, () => void]>([
    ['was removed', () => db.exec('DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)')],
    ['is not that of its place', () => keep((fold) => (fold.head.seq -= 1))],
    ['is after the end of the chain', () => keep((fold) => (fold.head.seq += 1))],
    ['has another hash', () => keep((fold) => (fold.head.hash = 'f'.repeat(64)))],
  ])('cannot be resumed if the last entry of its stored state %s', async (_what, forge) => {
    forge();
    await expect(on.reopen()).rejects.toMatchObject({ code: 'store-failed', message: /was changed or removed/ });
  });

  it('cannot be resumed if the last entry before its stored state was changed', async () => {
    keep((fold) => lie(fold));
    db.exec(`UPDATE entries SET body = replace(body, '"ok"', '"OK"') WHERE seq = (SELECT max(seq) FROM entries)`);
    expect(await readStoredState(store, id)).toBeNull();
    await expect(on.reopen()).rejects.toMatchObject({ code: 'store-failed' });
  });

  it('cannot be resumed after its erasure', async () => {
    await store.erase({ sessionId: id });
    await expect(on.reopen()).rejects.toThrow();
  });
});

it('a key that a full disk or a power cut shortened is replaced', async () => {
  writeFileSync(keyFile, 'short');
  const store = sqliteStore(join(folder, 'again.db'), { keyFile });
  const lease = await store.acquire('s-1', 'w-1', 1000);
  await store.release(lease, { head: EMPTY_CHAIN, text: '{}' });
  expect(await store.keptFold?.('s-1')).toMatchObject({ text: '{}' });
  await store.close();
});

it('a resumed session takes agent, root, sandbox and pin from the first entry, even if a kept state with the right key differs', async () => {
  for (const facts of [{ agent: 'other' }, { root: '/' }, { unsafeNoSandbox: true }]) {
    keep((fold) => lie(fold, (kept) => Object.assign((kept as never)['state']['facts'], facts)));
    const again = await on.reopen();
    expect([again.root, again.state.agent, again.state.steps]).toEqual([on.root, 'tester', 1]);
    await again.detach();
  }
  keep((fold) => lie(fold, (kept) => Object.assign(kept, { pin: 'f'.repeat(64) })));
  expect(await steps()).toBe(1);
});

it('a session whose first entry was changed cannot be resumed', async () => {
  db.exec(`UPDATE entries SET body = replace(body, '"unsafeNoSandbox":false', '"unsafeNoSandbox":true') WHERE seq = 0`);
  await expect(on.reopen()).rejects.toThrow(/first entry .* was changed/);
});

it('a running session stores its state from time to time, so that a killed writer leaves a stored state', async () => {
  const staged = await stage();
  await lead(staged.session, 'explore');
  for (let step = 0; step < 1_000; step++) await staged.session.step({ tool: 'write', args: {} });
  const kept = await readStoredState(staged.store, staged.session.id);
  expect(kept?.state.head.seq).toBeGreaterThan(900);
});
