import { describe, expect, it } from 'vitest';
import { verifyChain } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type EntryDraft } from '../../src/evidence/entry.ts';
import type { EvidenceQuery, FoundEntry } from '../../src/evidence/evidence-query.ts';
import type { EvidenceStore, StoreErrorCode } from '../../src/ports/evidence-store.ts';
import { closing, conversation, draft, opening } from '../evidence/drafts.ts';

/** The context that the suite of every store gives to its parts. */
export interface StoreTools {
  readonly store: () => EvidenceStore;
  /** Sets the store's clock, in milliseconds after its start. */
  readonly wait: (ms: number) => void;
  readonly write: (drafts: readonly EntryDraft[]) => Promise<unknown>;
  readonly release: (sessionId: string) => Promise<void>;
  readonly rejects: (promise: Promise<unknown>, code: StoreErrorCode, words: RegExp) => Promise<unknown>;
}

const ids = (entries: readonly FoundEntry[]) => entries.map(({ entry }) => entry.id);
const BLOB = (hash: string, bytes = 3) => ({
  event: 'step',
  outcome: { status: 'ok', result: [{ blob: hash, bytes }] },
});

/** The contract for finding and erasing. */
export function describeFinding({ store, wait, write, release, rejects }: StoreTools): void {
  const find = async (query: EvidenceQuery) => ids((await store().query(query)).entries);

  describe('short entries of a store', () => {
    it('get an id, the time and their session as subject, and keep the given fields', async () => {
      const lease = await store().acquire('s-1', 'w-1', 60_000);
      const short = { type: 'coordination', claim: 'goal', author: 'a', body: { event: 'x' } } as const;
      const [first, second] = await store().append(lease, EMPTY_CHAIN, [short, { ...short, id: 'mine', tags: ['t'] }]);
      expect(first?.entry).toMatchObject({
        ...short,
        id: expect.stringMatching(/^e-[0-9a-f-]{36}$/),
        at: '2026-01-31T09:00:00.000Z',
        subject: { type: 'session', id: 's-1' },
        sessionId: 's-1',
        peripheral: null,
        mode: null,
        tags: [],
      });
      expect(second?.entry).toMatchObject({ id: 'mine', tags: ['t'] });
      expect(await verifyChain(store().entries('s-1'))).toMatchObject({ ok: true, count: 2 });
    });

    it('are refused if a required field is missing', async () => {
      const lease = await store().acquire('s-1', 'w-1', 60_000);
      const none = { type: 'coordination', author: 'a', body: null } as never;
      await rejects(store().append(lease, EMPTY_CHAIN, [none]), 'invalid-entry', /claim/);
    });
  });

  describe('queries', () => {
    const pattern = { type: 'pattern', id: 'p/one' } as const;
    const scene = async () => {
      await write([
        ...conversation('s-1', 3),
        draft({
          id: 'psr',
          at: '2026-01-31T09:00:04.000Z',
          type: 'pattern-selection',
          patternId: 'p/one',
          tags: ['edit', 'psr'],
        }),
        draft({ id: 'about', at: '2026-01-31T09:00:05.000Z', subject: pattern, author: 'agent-2', peripheral: null }),
      ]);
      await write([
        opening('s-2', { at: '2026-01-31T09:00:01.500Z' }),
        draft({
          id: 'other',
          sessionId: 's-2',
          at: '2026-01-31T09:00:06.000Z',
          subject: { type: 'session', id: 's-1' },
        }),
      ]);
    };

    it('return all entries, the newest first', async () => {
      await scene();
      expect(await find({})).toEqual(['other', 'about', 'psr', 's-1-2', 's-1-1', 's-2-open', 's-1-0', 's-1-open']);
    });

    it.each<[EvidenceQuery, string[]]>([
      [{ sessionId: 's-1', claim: 'step' }, ['about', 'psr', 's-1-2', 's-1-1', 's-1-0']],
      [{ subject: { type: 'session', id: 's-1' }, limit: 3 }, ['other', 'psr', 's-1-2']],
      [{ subject: { type: 'session', id: 's-1' }, sessionId: 's-2' }, ['other']],
      [{ subject: { type: 'session', id: 's-2' } }, ['s-2-open']],
      [{ subject: pattern }, ['about']],
      [{ type: 'pattern-selection' }, ['psr']],
      [{ patternId: 'p/one', tags: ['psr'] }, ['psr']],
      [{ patternId: 'p/one', claim: 'goal' }, []],
      [{ tags: ['psr', 'edit'] }, ['psr']],
      [{ tags: ['psr', 'nothing'] }, []],
      [{ author: 'agent-2' }, ['about']],
      [{ peripheral: null }, ['about', 's-2-open', 's-1-open']],
      [{ claim: 'goal', peripheral: null }, ['s-2-open', 's-1-open']],
      [{ since: '2026-01-31T09:00:04.000Z', before: '2026-01-31T09:00:06Z' }, ['about', 'psr']],
      [{ sessionId: 's-1', before: '2026-01-31T09:00:01.000Z' }, ['s-1-open']],
    ])('return the entries of %j', async (query, found) => {
      await scene();
      expect(await find(query)).toEqual(found);
    });

    it('page with a cursor that neither skips nor repeats during writes', async () => {
      await scene();
      for (const query of [
        {},
        { sessionId: 's-1' },
        { subject: { type: 'session', id: 's-1' } },
        { tags: ['edit'] },
      ] as const) {
        const whole = await find(query);
        const paged: string[] = [];
        let after: string | null = null;
        do {
          const page: Awaited<ReturnType<EvidenceStore['query']>> = await store().query({
            ...query,
            limit: 2,
            ...(after === null ? {} : { after }),
          });
          expect(page.entries.length).toBeLessThanOrEqual(2);
          paged.push(...ids(page.entries));
          after = page.next;
          await write([
            draft({ id: `new-${JSON.stringify(query).length}-${paged.length}`, at: '2026-01-31T10:00:00.000Z' }),
          ]);
        } while (after !== null);
        expect(paged).toEqual(whole);
      }
    });

    it('keep the order of entries with the same time, and sort a session with decreasing times', async () => {
      const at = '2026-01-31T09:00:01.000Z';
      await write([
        opening('s-1', { at }),
        draft({ id: 'one', at }),
        draft({ id: 'two', at }),
        draft({ id: 'early', at: '2026-01-30T09:00:00.000Z' }),
        draft({ id: 'last', at }),
      ]);
      expect(await find({ sessionId: 's-1' })).toEqual(['last', 'two', 'one', 's-1-open', 'early']);
      expect(await find({})).toEqual(['last', 'two', 'one', 's-1-open', 'early']);
      const { next } = await store().query({ sessionId: 's-1', limit: 2 });
      expect(await find({ sessionId: 's-1', limit: 2, after: next! })).toEqual(['one', 's-1-open']);
    });

    it.each<[string, object, RegExp]>([
      ['an unknown type', { type: 'gossip' }, /type: /],
      ['an unknown field', { kind: 'x' }, /kind/],
      ['half a subject', { subject: { type: 'session' } }, /subject\.id: /],
      ['a time without zone', { since: '2026-01-31 09:00' }, /since: .*ISO 8601/],
      ['a day that is none', { before: '2026-02-30T00:00:00Z' }, /before: /],
      ['no limit', { limit: 0 }, /limit: /],
      ['a limit that is too large', { limit: 1001 }, /limit: /],
      ['tags that are none', { tags: ['a', 1] }, /tags\.1: /],
      ['a made-up cursor', { after: 'page-2' }, /after: .*next/],
    ])('with %s are refused, with the path', async (_what, query, words) => {
      await scene();
      await rejects(store().query(query as EvidenceQuery), 'invalid-query', words);
    });
  });

  describe('links between entries', () => {
    it('lead from an entry to its root, across sessions', async () => {
      await write(conversation('s-1', 3));
      await write([opening('s-2', { inReplyTo: 's-1-1', forkOf: 's-1-0' })]);
      expect(ids(await store().replyChain('s-2-open'))).toEqual(['s-1-open', 's-1-0', 's-1-1', 's-2-open']);
    });

    it('end in an error if the entry is missing, never in an empty answer', async () => {
      await rejects(store().replyChain('gone'), 'entry-not-found', /no entry gone/);
    });
  });

  describe('ephemeral entries', () => {
    const at = (minute: number) => `2026-01-31T09:0${minute}:00.000Z`;
    const beat = (id: string, minute: number, fields: Partial<EntryDraft> = {}) =>
      draft({ id, at: at(minute), type: 'presence-event', claim: 'observation', body: { beat: minute }, ...fields });

    it('are outside the chain and returned only on request', async () => {
      await write(conversation('s-1', 1));
      const [kept] = await store().appendEphemeral('s-1', [beat('b-1', 0, { inReplyTo: 's-1-0' })]);
      expect(kept).toEqual({ ...beat('b-1', 0, { inReplyTo: 's-1-0' }), ephemeral: true });
      expect((await store().head('s-1')).seq).toBe(1);
      expect(await store().get('b-1')).toBeNull();
      expect(await find({ type: 'presence-event' })).toEqual([]);
      const { entries } = await store().query({ sessionId: 's-1', ephemeral: true });
      expect(ids(entries)).toEqual(['s-1-0', 'b-1', 's-1-open']);
      expect(entries[1]).toEqual({ entry: kept, head: null, body: '{"beat":0}' });
      expect(ids(await store().replyChain('b-1'))).toEqual(['s-1-open', 's-1-0', 'b-1']);
      const first = await store().query({ ephemeral: true, limit: 1 });
      expect(await find({ ephemeral: true, limit: 1, after: first.next! })).toEqual(['b-1']);
      expect(await find({ ephemeral: true, subject: { type: 'session', id: 's-1' }, claim: 'observation' })).toEqual([
        'b-1',
      ]);
    });

    it('never get replies from durable entries, and share no id with them', async () => {
      await write([opening('s-1')]);
      await store().appendEphemeral('s-1', [beat('b-1', 0)]);
      await rejects(write([draft({ id: 'd', inReplyTo: 'b-1' })]), 'reply-not-found', /as a durable entry/);
      await rejects(write([draft({ id: 'd', forkOf: 'b-1' })]), 'fork-not-found', /as a durable entry/);
      await rejects(write([draft({ id: 'b-1' })]), 'duplicate-id', /b-1/);
      await rejects(store().appendEphemeral('s-1', [beat('s-1-open', 0)]), 'duplicate-id', /s-1-open/);
      await rejects(store().appendEphemeral('s-1', [beat('b-1', 0)]), 'duplicate-id', /b-1/);
      await rejects(store().appendEphemeral('s-1', [beat('b-2', 0, { inReplyTo: 'gone' })]), 'reply-not-found', /gone/);
      await rejects(store().appendEphemeral('s-2', [beat('b-2', 0)]), 'invalid-entry', /s-1/);
    });
  });

  describe('blobs', () => {
    const later = '2026-01-31T09:01:00.000Z';

    it('list their references, and can be collected if they have none', async () => {
      const [used, pin, lost] = await Promise.all(
        ['used', 'pin', 'lost'].map((text) => store().putBlob(Buffer.from(text))),
      );
      await write([
        opening('s-1', { body: { event: 'session-open', agent: 'a', pin: pin! } }),
        draft({ id: 'one', body: BLOB(used!) }),
        draft({ id: 'two', body: { args: { text: { blob: used!, bytes: 4 } } } }),
        draft({ id: 'text', body: { said: `{"blob":"${lost!}","bytes":4}`, blob: lost! } }),
      ]);
      expect(await store().blobReferences(used!)).toEqual({ entries: ['one', 'two'], sessions: [] });
      expect(await store().blobReferences(pin!)).toEqual({ entries: [], sessions: ['s-1'] });
      expect(await store().blobReferences(lost!)).toEqual({ entries: [], sessions: [] });
      expect(await store().collectBlobs({ olderThan: later })).toEqual({ collected: 1 });
      expect(await store().getBlob(lost!)).toBeNull();
      expect(await store().getBlob(used!)).not.toBeNull();
      expect(await store().getBlob(pin!)).not.toBeNull();
    });

    it('that were just stored again are kept for the append that will refer to them', async () => {
      const hash = await store().putBlob(Buffer.from('x'));
      wait(60_000);
      await store().putBlob(Buffer.from('x'));
      expect(await store().collectBlobs({ olderThan: later })).toEqual({ collected: 0 });
      wait(1);
      expect(await store().collectBlobs({ olderThan: '2026-01-31T09:01:00.001Z' })).toEqual({ collected: 1 });
      expect(await store().getBlob(hash)).toBeNull();
      await rejects(store().collectBlobs({ olderThan: '1 h' }), 'invalid-query', /olderThan: /);
    });
  });

  describe('an erasure', () => {
    it('removes the bodies of a session and keeps its chain, agent and pin', async () => {
      const pin = await store().putBlob(Buffer.from('pin'));
      const big = await store().putBlob(Buffer.from('big'));
      const drafts = [
        opening('s-1', { body: { event: 'session-open', agent: 'agent-7', pin } }),
        draft({ id: 'step', body: BLOB(big) }),
        closing('s-1'),
      ];
      await write(drafts);
      await store().appendEphemeral('s-1', [draft({ id: 'beat', body: { said: 'secret' } })]);
      await release('s-1');
      const before = await store().sessions();
      const { head } = before[0]!;
      expect(await store().erase({ sessionId: 's-1' })).toEqual({ erased: 4 });
      expect(await store().sessions()).toEqual(before.map((one) => ({ ...one, erased: true })));
      expect(before[0]).toMatchObject({ agent: 'agent-7', pin, closed: true });
      expect(await verifyChain(store().entries('s-1'))).toEqual({ ok: true, head, count: 3 });
      expect(await store().get('step')).toMatchObject({ body: null, entry: { id: 'step', body: null } });
      const { entries } = await store().query({ ephemeral: true });
      expect(entries.map(({ entry }) => entry.body)).toEqual([null, null, null, null]);
      expect(await store().blobReferences(big)).toEqual({ entries: [], sessions: [] });
      wait(1);
      await store().collectBlobs({ olderThan: '2026-01-31T09:00:00.001Z' });
      expect(await store().getBlob(big)).toBeNull();
      expect(await store().getBlob(pin)).not.toBeNull();
      expect(await store().erase({ sessionId: 's-1' })).toEqual({ erased: 0 });
    });

    it('removes the bodies of single entries, and the session continues', async () => {
      await write(conversation('s-1', 2));
      await release('s-1');
      expect(await store().erase({ ids: ['s-1-0'] })).toEqual({ erased: 1 });
      expect(await store().get('s-1-1')).toMatchObject({ entry: { body: { event: 'step' } } });
      await write([draft({ id: 'more', inReplyTo: 's-1-0' })]);
      expect(await verifyChain(store().entries('s-1'))).toMatchObject({ ok: true, count: 4 });
      expect(await write(conversation('s-1', 2).slice(0, 2))).toHaveLength(2);
    });

    it('is refused while a writer is active, and for missing entries', async () => {
      await write(conversation('s-1', 1));
      await rejects(store().erase({ sessionId: 's-1' }), 'session-busy', /written by w-1 until/);
      await rejects(store().erase({ ids: ['s-1-0'] }), 'session-busy', /written by w-1 until/);
      expect((await store().get('s-1-0'))?.body).not.toBeNull();
      await rejects(store().erase({ sessionId: 's-9' }), 'session-not-found', /s-9/);
      wait(60_000);
      await rejects(store().erase({ ids: ['s-1-0', 'gone'] }), 'entry-not-found', /no entry gone/);
      expect((await store().get('s-1-0'))?.body).not.toBeNull();
      expect(await store().erase({ sessionId: 's-1' })).toEqual({ erased: 2 });
    });
  });
}
