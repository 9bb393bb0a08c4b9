import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyChain } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type EntryDraft, type StoredEntry } from '../../src/evidence/entry.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { EvidenceStore, Lease, StoreErrorCode } from '../../src/ports/evidence-store.ts';
import { closing, conversation, draft, opening } from '../evidence/drafts.ts';
import { describeFinding } from './evidence-store-finding.ts';

export interface StoreUnderTest {
  readonly store: EvidenceStore;
  /** Closes the store and opens the same data again; absent for a store that keeps nothing. */
  readonly reopen?: () => Promise<EvidenceStore>;
  readonly cleanup: () => Promise<void>;
}

const TTL = 60_000;

/** The contract of every evidence store. `make` gets the clock that the store must use. */
export function describeEvidenceStore(
  name: string,
  make: (clock: Clock) => Promise<StoreUnderTest>,
  { keeps = true, whole = true }: { readonly keeps?: boolean; readonly whole?: boolean } = {},
): void {
  describe(`evidence store: ${name}`, () => {
    let now: number;
    let under: StoreUnderTest;
    let store: EvidenceStore;
    beforeEach(async () => {
      now = Date.parse('2026-01-31T09:00:00.000Z');
      under = await make({ now: () => now });
      store = under.store;
    });
    afterEach(async () => {
      await store.close();
      await under.cleanup();
    });

    const rejects = (promise: Promise<unknown>, code: StoreErrorCode, words: RegExp) =>
      expect(promise).rejects.toMatchObject({
        name: 'StoreError',
        code,
        message: expect.stringMatching(new RegExp(`^\\[stores/${store.name}\\] .*(${words.source})`, 's')),
      });
    const all = async (sessionId: string, from?: number): Promise<StoredEntry[]> => {
      const found: StoredEntry[] = [];
      for await (const entry of store.entries(sessionId, from === undefined ? {} : { from })) found.push(entry);
      return found;
    };
    const codes = async () => (await store.notes()).map(({ code }) => code);
    const write = async (drafts: readonly EntryDraft[], holder = 'w-1') => {
      const { sessionId } = drafts[0]!;
      const lease = await store.acquire(sessionId, holder, TTL);
      return store.append(lease, await store.head(sessionId), drafts);
    };

    if (whole)
      describeFinding({
        store: () => store,
        wait: (ms) => {
          now += ms;
        },
        write,
        release: (sessionId) => store.release({ sessionId, holder: 'w-1', until: 0 }),
        rejects,
      });

    describe.runIf(whole)('appending', () => {
      it('links entries into a chain from the first on, which verifies', async () => {
        expect(await store.head('s-1')).toEqual(EMPTY_CHAIN);
        const first = await write([opening('s-1')]);
        expect(first[0]?.entry).toMatchObject({ ...opening('s-1'), seq: 0, prev: EMPTY_CHAIN.hash });
        const second = await write(conversation('s-1', 3).slice(1));
        expect(second.map(({ entry }) => entry.seq)).toEqual([1, 2, 3]);
        expect(second[0]?.entry.prev).toBe(first[0]?.entry.hash);
        const head = { seq: 3, hash: second[2]?.entry.hash };
        expect(await store.head('s-1')).toEqual(head);
        expect(await verifyChain(store.entries('s-1'))).toEqual({ ok: true, head, count: 4 });
        expect(await all('s-1')).toEqual([...first, ...second]);
      });

      it('returns each field and the bytes as appended', async () => {
        await write([opening('s-1')]);
        const full = draft({
          id: 'full',
          inReplyTo: 's-1-open',
          forkOf: 's-1-open',
          patternId: 'p/one',
          conjecture: true,
          mode: null,
          peripheral: null,
          tags: ['ä', '🙂'],
          body: { b: [1, -0.5, 1e21, null, { __proto__: null, x: true }], a: 'line\nNUL \u0000 🙂', '': {} },
        });
        await write([full]);
        const stored = await store.get('full');
        expect(stored?.entry).toMatchObject(full);
        expect(stored?.body).toBe('{"":{},"a":"line\\nNUL \\u0000 🙂","b":[1,-0.5,1e+21,null,{"x":true}]}');
        expect(JSON.parse(stored!.head)).toMatchObject({ id: 'full', seq: 1, bodyHash: stored?.entry.bodyHash });
      });

      it('keeps the entries unchanged if the caller changes its objects afterwards', async () => {
        const body = { event: 'session-open', agent: 'agent-1', pin: 'x' };
        const [answered] = await write([opening('s-1', { body })]);
        body.agent = 'mallory';
        (answered!.entry.body as Record<string, unknown>)['agent'] = 'mallory';
        (answered!.entry.tags as string[]).push('forged');
        expect((await store.get('s-1-open'))?.entry.body).toMatchObject({ agent: 'agent-1' });
        expect((await verifyChain(store.entries('s-1'))).ok).toBe(true);
      });

      it('appends a batch completely or not at all', async () => {
        await write([opening('s-1')]);
        const good = draft({ id: 'good', inReplyTo: 's-1-open' });
        const orphan = draft({ id: 'orphan', inReplyTo: 'nowhere' });
        await rejects(write([good, orphan]), 'reply-not-found', /orphan replies to nowhere/);
        expect(await store.get('good')).toBeNull();
        expect((await store.head('s-1')).seq).toBe(0);
      });

      it('lets a draft reply to an earlier one of its batch, and to another session', async () => {
        await write(conversation('s-1', 2));
        await write([opening('s-2', { inReplyTo: 's-1-1', forkOf: 's-1-0' })]);
        expect((await store.get('s-2-open'))?.entry.inReplyTo).toBe('s-1-1');
      });

      it('refuses a reply to a later entry, to itself or to a missing one, and a fork of a missing one', async () => {
        const [root, one, two] = conversation('s-1', 2);
        await rejects(write([root!, two!, one!]), 'reply-not-found', /s-1-1 replies to s-1-0/);
        await rejects(write([opening('s-1', { inReplyTo: 's-1-open' })]), 'reply-not-found', /s-1-open/);
        await rejects(write([opening('s-1', { forkOf: 'gone' })]), 'fork-not-found', /forks gone/);
        expect(await all('s-1')).toEqual([]);
      });

      it('answers a repeated append with the stored entries, and adds nothing', async () => {
        const drafts = conversation('s-1', 2);
        const lease = await store.acquire('s-1', 'w-1', TTL);
        const first = await store.append(lease, EMPTY_CHAIN, drafts);
        expect(await store.append(lease, EMPTY_CHAIN, drafts)).toEqual(first);
        expect(await store.append(lease, EMPTY_CHAIN, drafts.slice(0, 1))).toEqual(first.slice(0, 1));
        expect(await all('s-1')).toEqual(first);
      });

      it('adds only the new drafts of a mixed batch', async () => {
        const drafts = conversation('s-1', 3);
        const first = await write(drafts.slice(0, 2));
        const answer = await write([...drafts.slice(1), drafts[3]!]);
        expect(answer.map(({ entry }) => entry.seq)).toEqual([1, 2, 3, 3]);
        expect(answer[0]).toEqual(first[1]);
        expect(await verifyChain(store.entries('s-1'))).toMatchObject({ ok: true, count: 4 });
      });

      it.each<[string, Partial<EntryDraft>]>([
        ['body', { body: { event: 'step', tool: 'write' } }],
        ['time', { at: '2026-01-31T09:00:00.001Z' }],
        ['tags', { tags: [] }],
        ['claim', { claim: 'evidence' }],
        ['missing reply', { inReplyTo: undefined }],
      ])('refuses a known id with another %s', async (_what, change) => {
        const drafts = conversation('s-1', 1);
        await write(drafts);
        await rejects(write([{ ...drafts[1]!, ...change }]), 'duplicate-id', /s-1-0 exists with other content/);
        await rejects(write([opening('s-2', { id: 's-1-open' })]), 'duplicate-id', /s-1-open/);
        expect(await store.head('s-2')).toEqual(EMPTY_CHAIN);
      });

      it('refuses two different drafts of one id in one batch', async () => {
        const twice = [opening('s-1'), opening('s-1', { tags: ['other'] })];
        await rejects(write(twice), 'duplicate-id', /s-1-open/);
        expect(await all('s-1')).toEqual([]);
      });

      it('refuses an append that does not follow the current head', async () => {
        await write([opening('s-1')]);
        const lease = await store.acquire('s-1', 'w-1', TTL);
        const next = draft({ id: 'next' });
        await rejects(store.append(lease, EMPTY_CHAIN, [next]), 'chain-conflict', /is at seq 0 .* not at -1/);
        await rejects(store.append(lease, { seq: 0, hash: '1'.repeat(64) }, [next]), 'chain-conflict', /not at 0/);
        await rejects(store.append(lease, { seq: 7, hash: '1'.repeat(64) }, [next]), 'chain-conflict', /not at 7/);
        expect(await store.get('next')).toBeNull();
      });

      it.each<[string, object, RegExp]>([
        ['an unknown claim', { claim: 'boast' }, /claim: /],
        ['a local time', { at: '2026-01-31T09:00:00+01:00' }, /at: .*ISO 8601/],
        ['a day that is none', { at: '2026-02-30T09:00:00.000Z' }, /at: /],
        ['an empty id', { id: '' }, /id: /],
        ['a field of the chain', { seq: 4 }, /seq/],
        ['NaN in the body', { body: { a: [0, Number.NaN] } }, /body\.a\[1\]: NaN/],
        ['undefined in the body', { body: { a: undefined } }, /body\.a: undefined/],
        ['a bigint in the body', { body: { 'odd key': 1n } }, /body\["odd key"\]: bigint/],
        ['half a surrogate pair', { body: { text: 'cut \ud83d' } }, /body\.text: .*surrogate/],
        ['a Date', { body: { when: new Date(0) } }, /body\.when: .*plain/],
        ['no body', { body: undefined }, /body: undefined/],
      ])('refuses %s with the path', async (_what, change, words) => {
        const bad = { ...draft({ id: 'bad' }), ...change } as EntryDraft;
        const lease = await store.acquire('s-1', 'w-1', TTL);
        await rejects(store.append(lease, EMPTY_CHAIN, [opening('s-1'), bad]), 'invalid-entry', words);
        expect(await store.head('s-1')).toEqual(EMPTY_CHAIN);
      });

      it("refuses a cycle, and another session's draft", async () => {
        const loop: Record<string, unknown> = {};
        loop['self'] = loop;
        await rejects(write([opening('s-1', { body: loop as never })]), 'invalid-entry', /nested deeper/);
        const lease = await store.acquire('s-1', 'w-1', TTL);
        await rejects(store.append(lease, EMPTY_CHAIN, [opening('s-2')]), 'invalid-entry', /s-2, the lease is for s-1/);
      });

      it('lets one invalid append fail without the others', async () => {
        const leases = await Promise.all(['a', 'b', 'c'].map((id) => store.acquire(id, 'w-1', TTL)));
        const results = await Promise.allSettled(
          leases.map((lease, index) => {
            const fields = index === 1 ? { inReplyTo: 'nowhere' } : {};
            return store.append(lease, EMPTY_CHAIN, [opening(lease.sessionId, fields)]);
          }),
        );
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect((await store.sessions()).map(({ sessionId }) => sessionId).sort()).toEqual(['a', 'c']);
      });

      it('keeps the order of appends that were not awaited', async () => {
        const lease = await store.acquire('s-1', 'w-1', TTL);
        const first = store.append(lease, EMPTY_CHAIN, [opening('s-1')]);
        const second = store.append(lease, EMPTY_CHAIN, [draft({ id: 'rival' })]);
        await expect(first).resolves.toHaveLength(1);
        await rejects(second, 'chain-conflict', /seq 0/);
      });

      it('renews the lease for an empty batch', async () => {
        const lease = await store.acquire('s-1', 'w-1', TTL);
        now += TTL - 1;
        expect(await store.append(lease, EMPTY_CHAIN, [])).toEqual([]);
        now += TTL - 1;
        await rejects(store.acquire('s-1', 'w-2', TTL), 'session-busy', /w-1/);
      });
    });

    describe.runIf(whole)('the lease', () => {
      it('is given to one writer at a time, and a refusal is noted', async () => {
        const lease = await store.acquire('s-1', 'w-1', TTL);
        expect(lease).toEqual({ sessionId: 's-1', holder: 'w-1', until: now + TTL });
        await rejects(store.acquire('s-1', 'w-2', TTL), 'session-busy', /w-1 until 2026-01-31T09:01:00.000Z/);
        await expect(store.acquire('s-2', 'w-2', TTL)).resolves.toMatchObject({ holder: 'w-2' });
        const [note] = await store.notes();
        expect(note).toMatchObject({ at: '2026-01-31T09:00:00.000Z', code: 'session-busy', sessionId: 's-1' });
        expect(note?.message).toMatch(/w-2 was refused/);
      });

      it('is renewed by its holder and by each append', async () => {
        const lease = await store.acquire('s-1', 'w-1', TTL);
        now += TTL - 1;
        await store.append(lease, EMPTY_CHAIN, [opening('s-1')]);
        now += TTL - 1;
        await rejects(store.acquire('s-1', 'w-2', TTL), 'session-busy', /w-1/);
        expect(await store.acquire('s-1', 'w-1', TTL)).toMatchObject({ until: now + TTL });
      });

      it('can be taken over after its end, which is noted, and the first writer is then refused', async () => {
        const first = await store.acquire('s-1', 'w-1', TTL);
        await store.append(first, EMPTY_CHAIN, [opening('s-1')]);
        now += TTL;
        const second = await store.acquire('s-1', 'w-2', TTL);
        const head = await store.head('s-1');
        const late = store.append(first, head, [draft({ id: 'late' })]);
        await rejects(late, 'lease-expired', /w-1 has lost its lease.*w-2/);
        await store.append(second, head, [draft({ id: 'next' })]);
        expect(await store.get('late')).toBeNull();
        expect(await codes()).toEqual(['lease-expired', 'lease-taken-over']);
        expect((await store.notes())[1]?.message).toMatch(/w-2 took over session s-1/);
      });

      it('that was given by a clock in the future ends at most one ttl after another writer asked for it', async () => {
        now += 10 ** 9;
        await store.acquire('s-1', 'w-1', TTL);
        now -= 10 ** 9;
        await rejects(store.acquire('s-1', 'w-2', TTL), 'session-busy', /w-1/);
        now += 2 * TTL;
        expect(await store.acquire('s-1', 'w-2', TTL)).toMatchObject({ holder: 'w-2', until: now + TTL });
      });

      it('is not valid after its end, even if nobody else took it', async () => {
        const lease = await store.acquire('s-1', 'w-1', TTL);
        now += TTL;
        await rejects(store.append(lease, EMPTY_CHAIN, [opening('s-1')]), 'lease-expired', /acquire it again/);
        const again = await store.acquire('s-1', 'w-1', TTL);
        await expect(store.append(again, EMPTY_CHAIN, [opening('s-1')])).resolves.toHaveLength(1);
        expect(await codes()).toEqual(['lease-expired']);
      });

      it('is free after its release; a release by another holder is ignored', async () => {
        const lease = await store.acquire('s-1', 'w-1', TTL);
        await store.release({ ...lease, holder: 'w-2' });
        await rejects(store.acquire('s-1', 'w-2', TTL), 'session-busy', /w-1/);
        await store.release(lease);
        await store.release(lease);
        await expect(store.acquire('s-1', 'w-2', TTL)).resolves.toMatchObject({ holder: 'w-2' });
        await rejects(store.append(lease, EMPTY_CHAIN, [opening('s-1')]), 'lease-expired', /w-2/);
      });

      it('stores the last fold that its holder gave at the release', async () => {
        const fold = (seq: number) => ({ head: { seq, hash: 'f'.repeat(64) }, text: `fold ${seq}` });
        expect(await store.keptFold?.('s-1')).toBeNull();
        for (const seq of [0, 1]) await store.release(await store.acquire('s-1', 'w-1', TTL), fold(seq));
        await store.release({ sessionId: 's-1', holder: 'w-1', until: now + TTL }, fold(2));
        expect(await store.keptFold?.('s-1')).toEqual(fold(1));
        await store.release(await store.acquire('s-1', 'w-1', TTL));
        expect(await store.keptFold?.('s-1')).toEqual(fold(1));
        expect(await store.keptFold?.('s-2')).toBeNull();
      });

      it('stores a fold for the lease’s holder, who keeps the lease, and none for another writer', async () => {
        const { keepFold } = store;
        if (!keepFold) return;
        const fold = { head: { seq: 0, hash: 'f'.repeat(64) }, text: 'in the middle' };
        const lease = await store.acquire('s-1', 'w-1', TTL);
        await keepFold.call(store, lease, fold);
        await keepFold.call(store, { ...lease, holder: 'w-2' }, { ...fold, text: 'of another' });
        expect(await store.keptFold?.('s-1')).toEqual(fold);
        await rejects(store.acquire('s-1', 'w-2', TTL), 'session-busy', /w-1/);
      });

      it.each(['its session is', 'one of its entries is'])('stores no fold if %s erased', async (what) => {
        const fold = { head: { seq: 0, hash: 'f'.repeat(64) }, text: 'what was said' };
        await write(conversation('s-1', 2));
        const letGo = async () => store.release(await store.acquire('s-1', 'w-1', TTL), fold);
        await letGo();
        expect(await store.keptFold?.('s-1')).toEqual(fold);
        await store.erase(what === 'its session is' ? { sessionId: 's-1' } : { ids: ['s-1-1'] });
        expect(await store.keptFold?.('s-1')).toBeNull();
        await letGo();
        expect(await store.keptFold?.('s-1')).toBeNull();
      });

      it('must belong to the session that is written', async () => {
        await store.acquire('s-1', 'w-1', TTL);
        const forged: Lease = { sessionId: 's-2', holder: 'w-1', until: now + TTL };
        await rejects(store.append(forged, EMPTY_CHAIN, [opening('s-2')]), 'lease-expired', /no lease/);
      });
    });

    describe('reading', () => {
      it('streams a long session in order from the given entry', async () => {
        const drafts = conversation('s-1', 700);
        const stored = await write(drafts);
        await write([opening('s-2')]);
        expect((await all('s-1')).map(({ entry }) => entry.id)).toEqual(drafts.map(({ id }) => id));
        expect(await all('s-1', 650)).toEqual(stored.slice(650));
        expect(await all('s-1', 701)).toEqual([]);
        expect(await all('unknown')).toEqual([]);
      });

      it('continues while the session is written', async () => {
        await write(conversation('s-1', 3));
        const seen: number[] = [];
        for await (const { entry } of store.entries('s-1')) {
          seen.push(entry.seq);
          if (entry.seq === 1) await write([draft({ id: 'more' })]);
        }
        expect(seen.slice(0, 4)).toEqual([0, 1, 2, 3]);
        expect((await store.head('s-1')).seq).toBe(4);
      });

      it('finds an entry by its id alone', async () => {
        await write(conversation('s-1', 1));
        expect((await store.get('s-1-0'))?.entry).toMatchObject({ id: 's-1-0', seq: 1 });
        expect(await store.get('s-1')).toBeNull();
      });

      it('lists sessions, newest first, with the facts of their entries', async () => {
        await write(conversation('s-1', 2));
        await write([
          opening('s-2', {
            at: '2026-01-31T10:00:00.000Z',
            body: { event: 'session-open', agent: 'agent-2', pin: 'e'.repeat(64) },
          }),
          closing('s-2', { at: '2026-01-31T10:05:00.000Z' }),
        ]);
        await store.release({ sessionId: 's-2', holder: 'w-1', until: 0 });
        const [second, first] = await store.sessions();
        expect(second).toEqual({
          sessionId: 's-2',
          agent: 'agent-2',
          openedAt: '2026-01-31T10:00:00.000Z',
          lastAt: '2026-01-31T10:05:00.000Z',
          entries: 2,
          head: await store.head('s-2'),
          closed: true,
          pin: 'e'.repeat(64),
          lease: null,
          erased: false,
          name: null,
          archived: false,
        });
        const lease = { holder: 'w-1', until: now + TTL };
        expect(first).toMatchObject({ sessionId: 's-1', entries: 3, closed: false, pin: 'f'.repeat(64), lease });
        now += TTL;
        expect((await store.sessions())[1]?.lease).toBeNull();
      });

      it('returns the name and the archive mark of a session, apart from its chain', async () => {
        const stored = await write(conversation('s-1', 1));
        await store.label('s-1', { name: 'first try', archived: true });
        await store.label('s-1', {});
        expect(await store.sessions()).toMatchObject([{ name: 'first try', archived: true }]);
        await store.label('s-1', { archived: false });
        expect(await store.sessions()).toMatchObject([{ name: 'first try', archived: false }]);
        await store.label('s-1', { name: null });
        expect(await store.sessions()).toMatchObject([{ name: null, archived: false }]);
        expect(await all('s-1')).toEqual(stored);
        await rejects(store.label('s-2', { name: 'x' }), 'session-not-found', /s-2/);
      });
    });

    describe.runIf(whole)('blobs and notes', () => {
      it('keeps a blob under the sha256 of its bytes', async () => {
        const bytes = Buffer.from('abc');
        const pending = store.putBlob(bytes);
        bytes[0] = 0;
        const hash = await pending;
        expect(hash).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
        expect(await store.putBlob(Buffer.from('abc'))).toBe(hash);
        const kept = await store.getBlob(hash);
        expect(Buffer.from(kept!).toString()).toBe('abc');
        kept![0] = 0;
        expect(Buffer.from((await store.getBlob(hash))!).toString()).toBe('abc');
        expect(await store.getBlob('0'.repeat(64))).toBeNull();
        expect(await store.getBlob(await store.putBlob(new Uint8Array()))).toHaveLength(0);
      });

      it('keeps notes, newest first', async () => {
        const note = (code: string) => ({ at: '2026-01-31T09:00:00.000Z', code, sessionId: null, message: 'm' });
        for (const code of ['one', 'two', 'three']) await store.note(note(code));
        expect(await store.notes()).toEqual([note('three'), note('two'), note('one')]);
        expect(await store.notes({ limit: 1 })).toEqual([note('three')]);
        expect(await store.notes({ limit: 0 })).toEqual([]);
      });
    });

    describe('closing', () => {
      it('waits for pending appends, closes once, then refuses', async () => {
        const lease = await store.acquire('s-1', 'w-1', TTL);
        const pending = store.append(lease, EMPTY_CHAIN, [opening('s-1')]);
        await Promise.all([store.close(), store.close()]);
        await expect(pending).resolves.toHaveLength(1);
        await rejects(store.append(lease, EMPTY_CHAIN, []), 'store-failed', /closed/);
        await rejects(store.head('s-1'), 'store-failed', /closed/);
        await rejects(all('s-1'), 'store-failed', /closed/);
      });

      if (!keeps) return;
      it('finds everything again after reopening', async () => {
        if (under.reopen === undefined) throw new Error('a store that keeps has to say how it is opened again');
        const stored = await write(conversation('s-1', 3));
        const blob = await store.putBlob(Buffer.from('abc'));
        await store.note({ at: '2026-01-31T09:00:00.000Z', code: 'x', sessionId: 's-1', message: 'm' });
        await store.label('s-1', { name: 'kept', archived: true });
        const before = await store.sessions();
        store = await under.reopen();
        expect(await all('s-1')).toEqual(stored);
        expect(await store.sessions()).toEqual(before);
        expect(Buffer.from((await store.getBlob(blob))!).toString()).toBe('abc');
        expect(await codes()).toEqual(['x']);
        await rejects(store.acquire('s-1', 'w-2', TTL), 'session-busy', /w-1/);
        expect(await write([draft({ id: 'after' })])).toMatchObject([{ entry: { seq: 4 } }]);
      });
    });
  });
}
