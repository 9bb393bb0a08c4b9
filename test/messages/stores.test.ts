import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSession } from '../../src/open-session.ts';
import type { MessageDraft } from '../../src/ports/message-store.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { describeMessageStore } from '../contracts/message-store.ts';

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
