import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { StoreError } from '../../src/ports/evidence-store.ts';
import { GroupCommit } from '../../src/stores/sqlite/group-commit.ts';

function setUp() {
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE rows (word TEXT)');
  const add = (word: string) => db.prepare('INSERT INTO rows VALUES (?)').run(word);
  const words = () =>
    db
      .prepare('SELECT word FROM rows')
      .all()
      .map(({ word }) => word);
  return { writer: new GroupCommit(db, 1000), add, words };
}

it('a failing job undoes only its own writes', async () => {
  const { writer, add, words } = setUp();
  const refusal = new StoreError('session-busy', 'busy');
  const results = await Promise.allSettled([
    writer.run(() => add('first')),
    writer.run(
      () => {
        add('half');
        throw refusal;
      },
      () => add('noted'),
    ),
    writer.run(() => {
      add('half');
      throw new TypeError('a bug');
    }),
    writer.run(() => add('last')),
  ]);
  expect(results.map((result) => (result.status === 'rejected' ? result.reason : 'done'))).toEqual([
    'done',
    refusal,
    new TypeError('a bug'),
    'done',
  ]);
  expect(words()).toEqual(['first', 'noted', 'last']);
});

it('a disk failure within a job fails the whole batch and all later jobs', async () => {
  const { writer, add, words } = setUp();
  const results = await Promise.allSettled([
    writer.run(() => add('first')),
    writer.run(() => {
      throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
    }),
  ]);
  const failed = { code: 'store-failed', message: expect.stringMatching(/disk is full.*open the store again/) };
  expect(results).toMatchObject([{ reason: failed }, { reason: failed }]);
  await expect(writer.run(() => add('later'))).rejects.toMatchObject(failed);
  expect(words()).toEqual([]);
});

it('only a batch with a job that must survive a power cut waits for the disk', async () => {
  const db = new DatabaseSync(':memory:');
  const writer = new GroupCommit(db, 1000);
  const level = () => db.prepare('PRAGMA synchronous').get()?.['synchronous'];
  const [NORMAL, FULL] = [1, 2];
  const passing = () => writer.run(level, () => {}, false);
  expect(await writer.run(level)).toBe(FULL);
  expect(await passing()).toBe(NORMAL);
  expect(await Promise.all([passing(), writer.run(level)])).toEqual([FULL, FULL]);
  expect(await Promise.all([passing(), passing()])).toEqual([NORMAL, NORMAL]);
  expect(await writer.run(level)).toBe(FULL);
});
