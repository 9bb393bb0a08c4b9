import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifyChain } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { compareByNewest, type EvidenceQuery, matchesQuery, validateQuery } from '../../src/evidence/evidence-query.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { statementsOfQuery } from '../../src/stores/sqlite/sqlite-query.ts';
import { openDatabase } from '../../src/stores/sqlite/sqlite-schema.ts';
import { prepareStatementsOnce } from '../../src/stores/sqlite/statements.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { conversation, draft, opening } from '../evidence/drafts.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-queries-'));
  file = join(folder, 'evidence.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const AFTER = '1770000000000.0.7';
const bySubject = { subject: { type: 'pattern', id: 'p' } } as const;

it.each<[EvidenceQuery, string[]]>([
  [{}, ['entries_at']],
  [{ after: AFTER }, ['entries_at']],
  [{ claim: 'goal', author: 'a', tags: ['x'], since: '2026-01-01T00:00:00Z' }, ['entries_at']],
  [{ sessionId: 's' }, ['entries_session']],
  [{ sessionId: 's', after: AFTER, claim: 'step' }, ['entries_session']],
  [{ patternId: 'p', after: AFTER }, ['entries_pattern']],
  [{ ...bySubject, after: AFTER }, ['entries_subject']],
  [{ subject: { type: 'session', id: 's' } }, ['entries_subject', 'entries_session']],
  [{ ephemeral: true, after: AFTER }, ['entries_at', 'ephemeral_at']],
  [{ sessionId: 's', ephemeral: true }, ['entries_session', 'ephemeral_session']],
])('a page of %j is read along an index without sorting', (query, indexes) => {
  const db = openDatabase(file, 100);
  const readings = statementsOfQuery(prepareStatementsOnce(db), validateQuery(query));
  expect(readings.map(({ sql }) => /INDEXED BY (\w+)/.exec(sql)?.[1])).toEqual(indexes);
  for (const { sql, values } of readings) {
    const plan = db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map(({ detail }) => String(detail));
    expect(plan).toHaveLength(1);
    expect(plan[0]).toMatch(/USING (COVERING )?INDEX/);
    expect(plan[0]).not.toMatch(/TEMP B-TREE/);
    if (query.after !== undefined && query.sessionId === undefined)
      expect(plan[0]).toMatch(/^SEARCH .*\(.*(at|\(at,nth\))<\(?/);
  }
  db.close();
});

const word = (...words: string[]) => fc.constantFrom(...words);
const entry = fc.record({
  at: fc.integer({ min: 0, max: 4 }).map((minute) => `2026-01-31T09:0${minute}:00.000Z`),
  sessionId: word('a', 'b'),
  type: word('coordination', 'correction') as fc.Arbitrary<'coordination'>,
  claim: word('step', 'goal') as fc.Arbitrary<'step'>,
  author: word('x', 'xx', 'p'),
  peripheral: fc.option(word('x', 'edit')),
  subject: fc.record({ type: word('session', 'agent') as fc.Arbitrary<'session'>, id: word('a', 'b') }),
  tags: fc.subarray(['x', 'y', 'xx']),
  patternId: fc.option(word('p', 'q'), { nil: undefined }),
  ephemeral: fc.boolean(),
});
const queries = fc.record(
  {
    sessionId: word('a', 'b'),
    type: word('coordination', 'correction') as fc.Arbitrary<'coordination'>,
    claim: word('step', 'goal') as fc.Arbitrary<'step'>,
    author: word('x', 'xx', 'p'),
    peripheral: fc.option(word('x', 'edit')),
    subject: fc.record({ type: word('session', 'agent') as fc.Arbitrary<'session'>, id: word('a', 'b') }),
    tags: fc.subarray(['x', 'y', 'xx']),
    patternId: word('p', 'q'),
    since: fc.constant('2026-01-31T09:01:00Z'),
    before: fc.constant('2026-01-31T09:03:00Z'),
    ephemeral: fc.boolean(),
    limit: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: [] },
);

async function pages(store: EvidenceStore, query: EvidenceQuery): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<EvidenceStore['query']>> = await store.query(
      after === null ? query : { ...query, after },
    );
    found.push(...page.entries.map(({ entry }) => entry.id));
    if (page.next === null) return found;
    after = page.next;
  }
}

it('the pages of any query contain what a scan of all entries finds', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { maxLength: 14 }),
      fc.array(queries, { minLength: 1, maxLength: 6 }),
      async (entries, asked) => {
        const store = sqliteStore(join(folder, `${run++}.db`));
        const all = entries.map(({ ephemeral, patternId, ...fields }, nth) => {
          const one = draft({ id: `e-${nth}`, ...fields, ...(patternId === undefined ? {} : { patternId }) });
          return { one, place: { at: Date.parse(one.at), ephemeral, nth } };
        });
        for (const { one, place } of all) {
          if (place.ephemeral) await store.appendEphemeral(one.sessionId, [one]);
          else
            await store.append(await store.acquire(one.sessionId, 'w', 60_000), await store.head(one.sessionId), [one]);
        }
        for (const query of asked) {
          const found = all
            .filter(({ place }) => query.ephemeral === true || !place.ephemeral)
            .filter(({ one }) => matchesQuery(validateQuery(query), one))
            .sort((a, b) => compareByNewest(a.place, b.place));
          expect(await pages(store, query), JSON.stringify(query)).toEqual(found.map(({ one }) => one.id));
        }
        await store.close();
      },
    ),
    { numRuns: 40 },
  );
});

it('an erasure removes the erased text from all files of the store', async () => {
  const store = sqliteStore(file);
  const lease = await store.acquire('s-1', 'w-1', 60_000);
  const secret = { event: 'step', said: 'the-secret-word '.repeat(1000) };
  await store.append(lease, EMPTY_CHAIN, [
    opening('s-1'),
    draft({ id: 'one', body: secret }),
    draft({ id: 'two', body: { said: 'the-secret-word' } }),
  ]);
  const blob = await store.putBlob(Buffer.from('the-secret-word in a blob'));
  await store.release(lease);
  const holding = () =>
    readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes('the-secret-word'));
  expect(holding()).not.toEqual([]);
  await store.erase({ sessionId: 's-1' });
  await store.collectBlobs({ olderThan: '2100-01-01T00:00:00Z' });
  expect(await store.getBlob(blob)).toBeNull();
  expect(holding()).toEqual([]);
  expect(await verifyChain(store.entries('s-1'))).toMatchObject({ ok: true, count: 3 });
  await store.close();
});

it('an entry whose index columns differ from its bytes counts as damaged', async () => {
  const store = sqliteStore(file);
  await store.append(await store.acquire('s-1', 'w-1', 60_000), EMPTY_CHAIN, conversation('s-1', 1));
  const db = new DatabaseSync(file);
  db.exec("UPDATE entries SET facets = replace(facets, 'aagent-1', 'aagent-2') WHERE id = 's-1-0'");
  db.close();
  await expect(store.query({ author: 'agent-2' })).rejects.toMatchObject({
    code: 'store-failed',
    message: expect.stringMatching(/damaged/),
  });
  const { entries, unreadable } = await store.query({ sessionId: 's-1', author: 'agent-2', skipUnreadable: true });
  expect([entries, unreadable]).toEqual([[], 1]);
  await store.close();
});
