import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TextDatabase, TextRows } from '../stores/asynchronous-store.ts';

/** The contract of the database of an asynchronous store. `open` opens the same data at each call of one test. */
export function describeTextDatabase(
  name: string,
  make: () => { open: () => TextDatabase; cleanup: () => void },
): void {
  describe(`text database: ${name}`, () => {
    let under: ReturnType<typeof make>;
    let database: TextDatabase;
    beforeEach(() => {
      under = make();
      database = under.open();
    });
    afterEach(async () => {
      await database.close();
      under.cleanup();
    });
    const list = (session?: string) =>
      database.transaction(async (rows) => (await rows.list('entries', session)).map(({ key }) => key));
    const get = (key: string) => database.transaction((rows) => rows.get('entries', key));
    const put = (...keys: string[]) =>
      database.transaction(async (rows) => {
        for (const key of keys) await rows.put('entries', key, `value of ${key}`, `session ${key[0]}`);
      });

    it('get returns the value of a key of that table, and null for a missing key', async () => {
      await put('b1');
      expect(await get('b1')).toBe('value of b1');
      expect(await get('b2')).toBeNull();
      expect(await database.transaction((rows) => rows.get('leases', 'b1'))).toBeNull();
    });

    it('list returns the rows of a table or of one session in the order of their first put', async () => {
      await put('b1', 'a1', 'b2');
      await put('b1');
      expect(await list()).toEqual(['b1', 'a1', 'b2']);
      expect(await list('session b')).toEqual(['b1', 'b2']);
      expect(await list('session c')).toEqual([]);
    });

    it('put replaces the value, and keeps any text as it is', async () => {
      const text = '\u0000"\\\n🙂 ä'.repeat(10_000);
      await put('b1');
      await database.transaction((rows) => rows.put('entries', 'b1', text, 'session b'));
      expect(await get('b1')).toBe(text);
    });

    it('delete removes a row; a missing one is ignored', async () => {
      await put('b1', 'b2');
      await database.transaction(async (rows) => {
        for (const key of ['b1', 'b3']) await rows.delete('entries', key);
      });
      expect(await list()).toEqual(['b2']);
    });

    it('transaction reads its own writes', async () => {
      const seen = await database.transaction(async (rows) => {
        await rows.put('entries', 'b1', 'new', 'session b');
        return [await rows.get('entries', 'b1'), await rows.list('entries', 'session b')];
      });
      expect(seen).toEqual(['new', [{ key: 'b1', value: 'new' }]]);
    });

    it('transaction undoes every write if its work throws, and rejects with the same error', async () => {
      await put('b1', 'b2');
      const failure = new Error('refused');
      const failing = database.transaction(async (rows) => {
        await rows.put('entries', 'b1', 'changed', 'session b');
        await rows.put('entries', 'b3', 'new', 'session b');
        await rows.delete('entries', 'b2');
        throw failure;
      });
      await expect(failing).rejects.toBe(failure);
      expect([await get('b1'), await get('b2'), await get('b3')]).toEqual(['value of b1', 'value of b2', null]);
    });

    const increase = async (rows: TextRows) =>
      rows.put('entries', 'n', String(Number((await rows.get('entries', 'n')) ?? 0) + 1), 'session n');

    it('transaction runs after the transactions that were requested before it', async () => {
      const order: number[] = [];
      await Promise.all(
        [0, 1, 2, 3].map((each) => database.transaction((rows) => increase(rows).then(() => order.push(each)))),
      );
      expect(order).toEqual([0, 1, 2, 3]);
      expect(await get('n')).toBe('4');
    });

    it('transaction waits for a transaction of another program on the same data', async () => {
      const other = under.open();
      const databases = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? database : other));
      await Promise.all(databases.map((each) => each.transaction(increase)));
      await other.close();
      expect(await get('n')).toBe('20');
    });

    it('close waits for pending transactions, whose writes the next program finds', async () => {
      let isDone = false;
      void put('b1', 'a1').then(() => {
        isDone = true;
      });
      await database.close();
      expect(isDone).toBe(true);
      database = under.open();
      expect(await list()).toEqual(['b1', 'a1']);
    });
  });
}
