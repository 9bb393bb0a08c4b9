import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { MessageDraft, MessageStore } from '../../src/ports/message-store.ts';

/** The contract of every message store. `reopen`: closes the store and opens the same data again. */
export function describeMessageStore(
  name: string,
  make: () => { readonly store: EvidenceStore; readonly reopen?: () => Promise<EvidenceStore> },
): void {
  describe(`message store: ${name}`, () => {
    let under: ReturnType<typeof make>;
    let messages: MessageStore;
    beforeEach(() => {
      under = make();
      messages = under.store.messages!;
    });
    afterEach(() => under.store.close());

    const draft = (id: string, more: Partial<MessageDraft> = {}): MessageDraft => ({
      id,
      kind: 'bell',
      act: 'assert',
      from: 'session:a',
      author: 'ann',
      to: 'session:b',
      text: id,
      ref: null,
      ...more,
    });
    const ids = async (address: string, options = {}) => (await messages.inbox(address, options)).map(({ id }) => id);

    it('orders each inbox by its own sequence', async () => {
      await messages.send(draft('m-1'));
      await messages.send(draft('m-2', { to: 'person:operator' }));
      const third = await messages.send(draft('m-3'));
      expect(third).toMatchObject({ seq: 2, state: 'sent' });
      expect(await ids('session:b')).toEqual(['m-1', 'm-3']);
      expect(await ids('session:b', { after: 1 })).toEqual(['m-3']);
      expect(await ids('session:b', { limit: 1 })).toEqual(['m-1']);
      expect(await ids('session:c')).toEqual([]);
    });

    it('keeps one message for each id', async () => {
      const first = await messages.send(draft('m-1'));
      expect(await messages.send(draft('m-1', { text: 'other' }))).toEqual(first);
      expect(await ids('session:b')).toEqual(['m-1']);
      expect(await messages.find('m-1')).toEqual(first);
      expect(await messages.find('m-2')).toBeNull();
    });

    it('records receipts that only go forward', async () => {
      await messages.send(draft('m-1'));
      expect(await messages.mark('m-1', 'delivered')).toBe(true);
      expect(await messages.countUnread('session:b')).toBe(1);
      expect(await messages.mark('m-1', 'read')).toBe(true);
      expect(await messages.countUnread('session:b')).toBe(0);
      expect(await messages.mark('m-1', 'read')).toBe(false);
      expect(await messages.mark('m-1', 'delivered')).toBe(false);
      expect(await messages.mark('m-9', 'read')).toBe(false);
      const receipts = await messages.receipts('session:a', 0);
      expect(receipts.map(({ state }) => state)).toEqual(['sent', 'delivered', 'read']);
      expect(await messages.receipts('session:a', receipts[1]!.nth)).toEqual([receipts[2]]);
      expect(await ids('session:b', { unread: true })).toEqual([]);
    });

    it('reports news exactly if the inbox or the receipts have entries after the given positions', async () => {
      await messages.send(draft('m-1'));
      await messages.send(draft('m-2', { from: 'session:b', to: 'session:c' }));
      await messages.mark('m-2', 'delivered');
      const last = (await messages.receipts('session:b', 0)).at(-1)!.nth;
      for (const address of ['session:a', 'session:b', 'session:c', 'session:d'])
        for (const seq of [0, 1])
          for (const receipt of [0, last - 1, last]) {
            const fresh = await messages.inbox(address, { after: seq });
            const receipts = await messages.receipts(address, receipt);
            expect(await messages.hasNews(address, { seq, receipt })).toBe(fresh.length + receipts.length > 0);
          }
    });

    it('finds the first answer', async () => {
      await messages.send(draft('m-1'));
      expect(await messages.answerTo('m-1')).toBeNull();
      await messages.send(draft('m-2', { ref: 'm-1' }));
      await messages.send(draft('m-3', { ref: 'm-1', act: 'answer' }));
      await messages.send(draft('m-4', { ref: 'm-1', act: 'answer' }));
      expect(await messages.answerTo('m-1')).toMatchObject({ id: 'm-3' });
    });

    it('refuses a wait that would close a cycle of any length, and forgets waits that ended', async () => {
      const wait = (id: string, waiter: string, target: string, until = Date.now() + 60_000) =>
        messages.wait({ id, waiter, target, until });
      expect(await wait('0', 'a', 'a')).toEqual(['a', 'a']);
      expect(await wait('1', 'a', 'b')).toBeNull();
      expect(await wait('2', 'b', 'c')).toBeNull();
      expect(await wait('3', 'c', 'a')).toEqual(['c', 'a', 'b', 'c']);
      await messages.endWait('2');
      expect(await wait('3', 'c', 'a')).toBeNull();
      expect(await wait('4', 'x', 'y', Date.now() - 1)).toBeNull();
      expect(await wait('5', 'y', 'x')).toBeNull();
    });

    it('ends the waits of a session whose lease another writer takes over, and no other', async () => {
      const until = Date.now() + 60_000;
      const { store } = under;
      await store.acquire('a', 'w-1', 1);
      await messages.wait({ id: '1', waiter: 'session:a', target: 'session:b', until });
      await messages.wait({ id: '2', waiter: 'session:aa', target: 'session:b', until });
      const open = async () => (await messages.waits(0)).map(({ id }) => id);
      await store.acquire('a', 'w-1', 1);
      expect(await open()).toEqual(['1', '2']);
      await expect.poll(() => store.acquire('a', 'w-2', 1).then(open, () => []), { timeout: 20_000 }).toEqual(['2']);
    });

    it('lists the operator and every added person', async () => {
      await messages.addPerson('joe');
      await messages.addPerson('joe');
      expect([...(await messages.people())].sort()).toEqual(['joe', 'operator']);
    });

    it('replaces the waits of another machine, and keeps those of this machine', async () => {
      const until = Date.now() + 60_000;
      const wait = (id: string, waiter: string, target: string) => ({ id, waiter, target, until });
      expect(await messages.wait(wait('m-1', 'a', 'b@n'))).toBeNull();
      await messages.putWaits('n', [wait('m-2@n', 'b@n', 'c'), wait('m-3@n', 'd@n', 'c')]);
      await messages.putWaits('o', [wait('m-2@o', 'b@o', 'a')]);
      expect((await messages.waits(Date.now())).map(({ id }) => id).sort()).toEqual(['m-1', 'm-2@n', 'm-2@o', 'm-3@n']);
      expect(await messages.waits(until)).toEqual([]);
      expect(await messages.wait(wait('m-4', 'c', 'a'))).toEqual(['c', 'a', 'b@n', 'c']);
      await messages.putWaits('n', []);
      expect(await messages.wait(wait('m-4', 'c', 'a'))).toBeNull();
      expect(await messages.wait(wait('m-5', 'a', 'b@o'))).toEqual(['a', 'b@o', 'a']);
    });

    it('collects for each machine the messages that it has not confirmed, and the receipts of messages that came from it', async () => {
      expect(await messages.nodes()).toEqual([]);
      await messages.addNode('n');
      await messages.addNode('n');
      await messages.addNode('m');
      expect(await messages.nodes()).toEqual(['m', 'n']);
      for (const [id, to] of [
        ['m-1', 'agent:x@n'],
        ['m-2', 'agent:x@on'],
        ['m-3', 'session:b'],
        ['m-4', 'session:y@n'],
        ['m-5', 'session:y@n'],
      ] as const)
        await messages.send(draft(id, { to }));
      await messages.send(draft('m-6@n', { from: 'session:y@n' }));
      await messages.mark('m-4', 'delivered');
      await messages.mark('m-6@n', 'delivered');
      const start = { message: 0, receipt: 0 };
      const all = await messages.mailFor('n', start, 9);
      expect(all.messages).toEqual([await messages.find('m-1'), await messages.find('m-5')]);
      expect(all.receipts).toEqual((await messages.receipts('session:y@n', 0)).slice(1));
      const first = await messages.mailFor('n', start, 1);
      expect(first.messages.map(({ id }) => id)).toEqual(['m-1']);
      const rest = await messages.mailFor('n', first.positions, 9);
      expect(rest.messages.map(({ id }) => id)).toEqual(['m-5']);
      expect(rest.receipts).toEqual([]);
      expect(await messages.mailFor('n', all.positions, 9)).toMatchObject({ messages: [], receipts: [] });
      await messages.send(draft('m-7', { from: 'node:n', to: 'session:a', ref: 'm-5' }));
      expect((await messages.mailFor('n', start, 9)).messages.map(({ id }) => id)).toEqual(['m-1']);
    });

    it('erases the texts that a session sent or got', async () => {
      await messages.send(draft('m-1'));
      await messages.send(draft('m-2', { from: 'session:b', to: 'session:c' }));
      await messages.send(draft('m-3', { to: 'session:c' }));
      await messages.eraseTexts('session:b');
      expect(await messages.find('m-1')).toMatchObject({ text: '' });
      expect(await messages.find('m-2')).toMatchObject({ text: '' });
      expect(await messages.find('m-3')).toMatchObject({ text: 'm-3' });
    });

    it('keeps messages and states when it is opened again', async () => {
      if (!under.reopen) return;
      await messages.send(draft('m-1'));
      await messages.mark('m-1', 'delivered');
      const again = await under.reopen();
      expect(await again.messages!.inbox('session:b', { unread: true })).toMatchObject([
        { id: 'm-1', seq: 1, state: 'delivered' },
      ]);
      await again.close();
    });
  });
}
