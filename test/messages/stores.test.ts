import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { openSession } from '../../src/open-session.ts';
import type { MessageDraft } from '../../src/ports/message-store.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { describeMessageStore } from '../contracts/message-store.ts';
import { isDeep } from '../depth.ts';

describeMessageStore('memory', () => ({ store: memoryStore() }));

describeMessageStore('sqlite', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'messages-')), 'evidence.db');
  const store = sqliteStore(file);
  return { store, reopen: () => store.close().then(() => sqliteStore(file)) };
});

it('a store erases the messages of an erased session', async () => {
  const store = sqliteStore(join(mkdtempSync(join(tmpdir(), 'messages-')), 'evidence.db'));
  const session = await openSession({ root: '.', agent: 'ann', store });
  const to = `session:${session.id}`;
  await session.detach();
  const bell = {
    id: 'm-1',
    kind: 'bell',
    act: 'query',
    from: 'person:operator',
    author: 'operator',
    to,
    text: 'secret',
  };
  await store.messages!.send({ ...bell, ref: null } as MessageDraft);
  await store.erase({ sessionId: session.id });
  expect(await store.messages!.find('m-1')).toMatchObject({ text: '' });
  await store.close();
});

it('a store notices a message in an inbox as soon as this or another program has sent it', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'messages-')), 'evidence.db');
  const [store, other] = [sqliteStore(file), sqliteStore(file)];
  const draft = (id: string): MessageDraft => ({
    id,
    kind: 'bell',
    act: 'query',
    from: 'person:operator',
    author: 'operator',
    to: 'agent:ann',
    text: id,
    ref: null,
  });
  const news = (seq: number) => store.messages!.hasNews('agent:ann', { seq, receipt: 0 });
  expect([await news(0), await news(0)]).toEqual([false, false]);
  await other.messages!.send(draft('m-1'));
  expect([await news(0), await news(1)]).toEqual([true, false]);
  await store.messages!.send(draft('m-2'));
  expect([await news(1), await news(2)]).toEqual([true, false]);
  // A program that runs while this one waits, without a return to the event loop in between.
  const copy = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    db.exec("INSERT INTO messages (id, recipient, seq, kind, act, sender, author, text, sent_at, state) SELECT 'm-3', recipient, 3, kind, act, sender, author, text, sent_at, state FROM messages WHERE id = 'm-1'")`;
  execFileSync(process.execPath, ['-e', copy, file], { stdio: 'pipe' });
  expect(await news(2)).toBe(true);
  await store.close();
  await other.close();
});

it.runIf(isDeep && process.platform === 'linux')(
  'the wait of a killed session has no effect, and a resume removes the wait',
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'messages-'));
    const file = join(root, 'evidence.db');
    const store = sqliteStore(file);
    const script = join(import.meta.dirname, 'whistler.ts');
    const whistler = spawn(process.execPath, [script, file, root, 'person:operator'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const id = String((await once(whistler.stdout, 'data'))[0]).trim();
    const messages = store.messages!;
    const back = { id: 'm-back', waiter: 'person:operator', target: `session:${id}`, until: Date.now() + 600_000 };
    expect(await messages.wait(back)).toEqual(['person:operator', `session:${id}`, 'person:operator']);
    whistler.kill('SIGKILL');
    await once(whistler, 'exit');
    expect(await messages.waits(0)).toEqual([]);
    expect(await messages.wait(back)).toBeNull();
    await messages.endWait(back.id);

    // A process whose end cannot be detected, because it ran in a container.
    const db = new DatabaseSync(file);
    db.exec("UPDATE waits SET holder = ''");
    db.close();
    expect(await messages.waits(0)).toHaveLength(1);
    const session = await openSession({ root, agent: 'ann', store, session: id });
    expect(await session.settle()).toMatchObject({ ok: true });
    expect(await messages.waits(0)).toEqual([]);
    await session.detach();
    await store.close();
  },
);
