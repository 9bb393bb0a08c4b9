import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildChainedEntries,
  ChainError,
  isEntryIntact,
  parseStoredEntry,
  type StoredBytes,
  verifyChain,
} from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type StoredEntry } from '../../src/evidence/entry.ts';
import { draftsOf } from './arbitraries.ts';
import { conversation, draft, opening } from './drafts.ts';

const bytesOf = ({ entry, head, body }: StoredEntry): StoredBytes => ({
  head,
  body,
  prev: entry.prev,
  hash: entry.hash,
});
const sealed = (count: number) => buildChainedEntries(EMPTY_CHAIN, conversation('s-1', count));
function* parsed(rows: readonly StoredBytes[]) {
  for (const row of rows) yield parseStoredEntry(row);
}
const rules = async (entries: Iterable<StoredEntry>) => {
  const verdict = await verifyChain(entries);
  return verdict.ok ? [] : verdict.problems.map(({ seq, rule }) => `${seq} ${rule}`);
};

describe('sealing entries', () => {
  it('hashes the previous hash and the head bytes, which name the body by its hash', () => {
    const [{ head, body, entry }] = buildChainedEntries(EMPTY_CHAIN, [
      opening('s-1', { body: { b: 2, a: [1e21, 'é'] } }),
    ]) as [StoredEntry];
    expect(body).toBe('{"a":[1e+21,"é"],"b":2}');
    expect(head).toBe(
      '{"at":"2026-01-31T09:00:00.000Z","author":"agent-1",' +
        '"bodyHash":"465f048075347a06f77105f424bdfe81be31283ddd47c777117829b5a2763df4",' +
        '"claim":"goal","id":"s-1-open","mode":"execute","peripheral":null,"seq":0,"sessionId":"s-1",' +
        '"subject":{"id":"s-1","type":"session"},"tags":["edit"],"type":"coordination"}',
    );
    expect(entry.hash).toBe('efcb9907abc8cf6971d8407727bb0d6085e9392969864e75fcee9b93c84805f9');
    expect(entry.prev).toBe('0'.repeat(64));
  });

  it('continues from the chain’s head', () => {
    const whole = sealed(3);
    const [first, ...rest] = conversation('s-1', 3);
    const start = buildChainedEntries(EMPTY_CHAIN, [first!]);
    expect([...start, ...buildChainedEntries({ seq: 0, hash: start[0]!.entry.hash }, rest)]).toEqual(whole);
  });

  it('treats an undefined optional field as absent', () => {
    const [bare] = buildChainedEntries(EMPTY_CHAIN, [draft({ id: 'x', patternId: undefined })]);
    expect(bare).toEqual(buildChainedEntries(EMPTY_CHAIN, [draft({ id: 'x' })])[0]);
  });

  it('stores head and body in RFC 8785 form, and returns the body parsed from those bytes', () => {
    fc.assert(
      fc.property(draftsOf('s-1'), (drafts) => {
        for (const { entry, head, body } of buildChainedEntries(EMPTY_CHAIN, drafts)) {
          expect([head, body]).toEqual([canonicalize(JSON.parse(head)), canonicalize(JSON.parse(body!))]);
          expect(entry.body).toEqual(JSON.parse(body!));
        }
      }),
    );
    const [odd] = buildChainedEntries(EMPTY_CHAIN, [
      draft({ id: 'x', body: JSON.parse('{"z":-0,"__proto__":{"9":1,"10":2}}') }),
    ]);
    expect(odd!.body).toBe('{"__proto__":{"10":2,"9":1},"z":0}');
    expect(odd!.entry.body).toStrictEqual(JSON.parse(odd!.body!));
  });

  it('copies the body, so that a later change of the draft does not change the entry', () => {
    const body = { list: [{ a: 1 }] };
    const [{ entry }] = buildChainedEntries(EMPTY_CHAIN, [draft({ id: 'x', body })]) as [StoredEntry];
    body.list[0]!.a = 2;
    body.list.push({ a: 3 });
    expect(entry.body).toEqual({ list: [{ a: 1 }] });
  });

  it('throws with the path of the problem', () => {
    const bad = draft({ id: 'x', body: { list: [1, Number.POSITIVE_INFINITY] } });
    expect(() => buildChainedEntries(EMPTY_CHAIN, [opening('s-1'), bad])).toThrow(
      /^body\.list\[1\]: Infinity is not a JSON number/,
    );
  });
});

describe('verifying a chain', () => {
  it('accepts every chain of valid drafts, also when read back from its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(draftsOf('s-1'), async (drafts) => {
        const links = buildChainedEntries(EMPTY_CHAIN, drafts);
        const head = { seq: links.length - 1, hash: links.at(-1)!.entry.hash };
        const verdict = { ok: true, head, count: links.length };
        expect(await verifyChain(links)).toEqual(verdict);
        expect(await verifyChain(parsed(links.map(bytesOf)))).toEqual(verdict);
      }),
    );
  });

  it('accepts an empty chain, and one whose bodies were erased', async () => {
    expect(await verifyChain([])).toEqual({ ok: true, head: EMPTY_CHAIN, count: 0 });
    const erased = sealed(2).map((link) => parseStoredEntry({ ...bytesOf(link), body: null }));
    expect(await verifyChain(erased)).toMatchObject({ ok: true, count: 3 });
  });

  it('finds any flipped bit', async () => {
    const fields = ['head', 'body', 'prev', 'hash'] as const;
    await fc.assert(
      fc.asyncProperty(
        draftsOf('s-1'),
        fc.constantFrom(...fields),
        fc.nat(),
        fc.nat(),
        async (drafts, field, row, bit) => {
          const rows = buildChainedEntries(EMPTY_CHAIN, drafts).map(bytesOf);
          const index = row % rows.length;
          const bytes = Buffer.from(rows[index]![field]!);
          bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7);
          fc.pre(bytes.toString() !== rows[index]![field]);
          rows[index] = { ...rows[index]!, [field]: bytes.toString() };
          expect(await rules(parsed(rows))).not.toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds any removed (except the last), repeated, moved or inserted entry', async () => {
    const strangers = buildChainedEntries({ seq: 1, hash: '1'.repeat(64) }, conversation('s-1', 1));
    const change = fc.constantFrom<(rows: StoredBytes[], at: number) => void>(
      (rows, at) => rows.splice(at, 1),
      (rows, at) => rows.splice(at, 0, rows[at]!),
      (rows, at) => rows.splice(at, 2, rows[at + 1]!, rows[at]!),
      (rows, at) => rows.splice(at, 0, bytesOf(strangers[0]!)),
    );
    await fc.assert(
      fc.asyncProperty(draftsOf('s-1'), fc.nat(), change, async (drafts, place, apply) => {
        fc.pre(drafts.length > 1);
        const rows = buildChainedEntries(EMPTY_CHAIN, drafts).map(bytesOf);
        apply(rows, place % (rows.length - 1));
        expect(await rules(parsed(rows))).not.toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('names the entry and the rule, and continues after the damage', async () => {
    const rows = sealed(5).map(bytesOf);
    rows[1] = { ...rows[1]!, body: rows[1]!.body!.replace('read', 'wrote') };
    rows[4] = { ...rows[4]!, head: rows[4]!.head.replace('"seq":4', '"seq":9') };
    expect(await rules(parsed(rows))).toEqual(['1 body', '9 hash', '9 seq', '5 seq']);
    rows.splice(3, 1);
    expect(await rules(parsed(rows))).toContain('9 prev');
    const missing = sealed(4).filter((_, index) => index !== 2);
    expect(await rules(missing)).toEqual(['3 prev', '3 seq']);
  });

  it('reports bytes that are not an entry, and ends at them', async () => {
    const rows = sealed(3).map(bytesOf);
    for (const head of ['', '[]', 'null', '{"id":"x"}', '{"seq":1}', `${rows[1]!.head}x`]) {
      const verdict = await verifyChain(parsed(rows.with(1, { ...rows[1]!, head })));
      expect(verdict).toMatchObject({ ok: false, problems: [{ seq: 1, rule: 'canonical' }] });
    }
  });

  it('refuses an entry that is given with the bytes of another entry', async () => {
    const links = sealed(2);
    const shown = { ...links[1]!.entry, author: 'someone-else' };
    expect(await rules(links.with(1, { ...links[1]!, entry: shown }))).toEqual(['1 canonical']);
    const altered = { ...links[1]!.entry, body: 'other words' };
    expect(await rules(links.with(1, { ...links[1]!, entry: altered }))).toEqual(['1 canonical']);
  });

  it('can continue from a stored head', async () => {
    const links = sealed(4);
    const after = { seq: 1, hash: links[1]!.entry.hash };
    expect(await verifyChain(links.slice(2), after)).toMatchObject({ ok: true, count: 3 });
    expect(await verifyChain(links.slice(3), after)).toMatchObject({ ok: false });
  });

  it('throws the error of a reader that fails', async () => {
    const failing = (function* (): Generator<StoredEntry> {
      yield sealed(0)[0]!;
      throw new Error('disk gone');
    })();
    await expect(verifyChain(failing)).rejects.toThrow('disk gone');
  });
});

describe('a damage report', () => {
  const reportAfter = async (
    change: (entries: StoredEntry[]) => Iterable<StoredEntry> | AsyncIterable<StoredEntry>,
  ) => {
    const verdict = await verifyChain(change(sealed(2)));
    return verdict.ok ? [] : verdict.problems.map(({ seq, id, rule, message }) => `${seq} ${id} ${rule}: ${message}`);
  };
  const at = (entries: StoredEntry[], index: number, some: Partial<StoredEntry>): StoredEntry[] =>
    entries.with(index, { ...entries[index]!, ...some });

  it('names the entry, the rule and the difference', async () => {
    expect(await reportAfter((entries) => at(entries, 1, { head: `${entries[1]!.head} ` }))).toEqual([
      '1 s-1-0 hash: the stored head bytes do not hash to the stored hash: the entry was changed',
    ]);
    expect(await reportAfter(([first, , third]) => [first!, third!])).toEqual([
      '2 s-1-1 prev: does not link to the entry before it (seq 0)',
      '2 s-1-1 seq: expected seq 1: entries are missing, doubled or out of order',
    ]);
    const body = JSON.stringify({ event: 'other' });
    expect(await reportAfter((entries) => at(entries, 1, { body }))).toEqual([
      '1 s-1-0 body: the stored body bytes do not hash to bodyHash: the body was changed',
      '1 s-1-0 canonical: the stored bytes are those of another entry',
    ]);
    expect((await reportAfter((entries) => at(entries, 2, { body: '{' }))).at(-1)).toBe(
      '2 s-1-1 canonical: the stored bytes are those of another entry',
    );
  });

  it('ends at bytes that are not an entry, also if another error wraps their error', async () => {
    const torn = (wrap: (error: ChainError) => Error) =>
      reportAfter(async function* ([first]) {
        yield first!;
        try {
          parseStoredEntry({ head: '{', body: null, prev: '', hash: '' });
        } catch (error) {
          throw wrap(error as ChainError);
        }
      });
    const report = [expect.stringMatching(/^1 {2}canonical: the stored .+ is not JSON: .+; reading ended here$/)];
    expect(await torn((error) => error)).toEqual(report);
    expect(await torn((cause) => new Error('the store failed', { cause }))).toEqual(report);
    await expect(torn(() => new Error('the disk is gone'))).rejects.toThrow('the disk is gone');
  });

  it.each([
    ['{', null, /^the stored head of an entry is not JSON: /],
    ['{"id":"x"}', '{', /^the stored body of entry x is not JSON: /],
    ['null', null, /^the stored head of an entry has no id, no seq or no time: null$/],
    ['"x"', null, /^the stored head of an entry has no id, no seq or no time: "x"$/],
    ['{"id":7,"seq":0}', null, /^the stored head of an entry has no id, no seq or no time: \{"id":7,"seq":0\}$/],
    [
      '{"id":"x","seq":0.5}',
      null,
      /^the stored head of an entry has no id, no seq or no time: \{"id":"x","seq":0\.5\}$/,
    ],
  ])('explains a damaged entry with the head %s and the body %s', (head, body, words) => {
    const parse = () => parseStoredEntry({ head, body, prev: '', hash: '' });
    expect(parse).toThrow(ChainError);
    expect(parse).toThrow(words);
    expect(new ChainError('x').name).toBe('ChainError');
  });

  it('gives null for an erased body, which is not intact', () => {
    const [first] = sealed(0) as [StoredEntry];
    expect(isEntryIntact(first)).toBe(true);
    expect(isEntryIntact({ ...first, body: null })).toBe(false);
    expect(isEntryIntact({ ...first, head: `${first.head} ` })).toBe(false);
    expect(isEntryIntact({ ...first, body: `${first.body} ` })).toBe(false);
    expect(parseStoredEntry({ ...bytesOf(first), body: null }).entry.body).toBeNull();
  });
});
