import { describe, expect, it } from 'vitest';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { MESSAGE_FORMS, STORE_FORMS } from '../../src/stores/rules/argument-forms.ts';
import { opening } from '../evidence/drafts.ts';

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const WRONG = [
  undefined,
  null,
  7,
  Number.NaN,
  7n,
  true,
  Symbol('s'),
  () => 1,
  [null],
  cycle,
  new Map(),
  Promise.resolve(),
];
/** A text, a number, a list and an object, so that the argument after them is judged, too. */
const SOME = ['s-1', 1, [], { sessionId: 's-1', holder: 'me', seq: 0, hash: '', ids: [] }];

const methodsOf = (forms: object): readonly string[] => Object.keys(forms);

describe('a store with wrong arguments', () => {
  it.each([
    ...methodsOf(STORE_FORMS).map((name) => ({ of: 'store' as const, name })),
    ...methodsOf(MESSAGE_FORMS).map((name) => ({ of: 'messages' as const, name })),
  ])('for $of.$name names the wrong one or accepts the call, and works afterwards', async ({ of, name }) => {
    const store = memoryStore();
    const target = (of === 'store' ? store : store.messages!) as unknown as {
      readonly [method: string]: (...args: unknown[]) => Promise<unknown>;
    };
    const calls = [...WRONG, ...SOME].flatMap((first) => [
      [first],
      ...WRONG.flatMap((second) => [[first, second], ...(typeof first === 'string' ? [[first, 'x', second]] : [])]),
    ]);
    for (const args of calls) {
      const error: Error | null = await target[name]!(...args).then(
        () => null,
        (thrown) => thrown as Error,
      );
      if (error?.name === 'TypeError') expect(error.message).toMatch(new RegExp(`^${name}: \\w+(\\.\\w+)* must be `));
      else expect(['StoreError', 'RangeError', undefined]).toContain(error?.name);
      expect(error?.message ?? '').not.toContain('cannot write');
    }
    const lease = await store.acquire('s-2', 'me', 1000);
    await store.append(lease, EMPTY_CHAIN, [opening('s-2')]);
    expect(store.failed).toBe(false);
    await store.close();
  });

  it('for entries names the wrong one', async () => {
    const store = memoryStore();
    const first = async (...args: readonly unknown[]) =>
      (store.entries as (...args: readonly unknown[]) => AsyncIterable<unknown>)(...args)
        [Symbol.asyncIterator]()
        .next();
    await expect(first(null)).rejects.toThrow('entries.sessionId must be a text, not null');
    await expect(first('s-1', { from: 'x' })).rejects.toThrow(/^entries\.options must be an object in which from are/);
    await store.close();
  });
});
