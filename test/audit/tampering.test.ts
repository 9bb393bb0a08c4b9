import { describe, expect, it } from 'vitest';
import { checkChainLink } from '../../src/audit/verify/check-links.ts';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { buildChainedEntries, parseStoredEntry, type StoredBytes } from '../../src/evidence/chain.ts';
import { type ChainHead, EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { merkleLeafOfEntry } from '../../src/evidence/merkle.ts';
import { newSealKey, signChainHead } from '../../src/evidence/seal.ts';
import { depth } from '../depth.ts';
import { conversation } from '../evidence/drafts.ts';
import { merkleRoot } from '../evidence/merkle-root.ts';
import { CONFIG, SPECS } from './audited-session.ts';

const log: readonly StoredBytes[] = buildChainedEntries(EMPTY_CHAIN, conversation('s-1', 199)).map(
  ({ entry, head, body }) => ({
    head,
    body,
    prev: entry.prev,
    hash: entry.hash,
  }),
);
/** Every how many entries the test flips the bits of one. */
const EVERY = depth(30, 1);
const headAt = (index: number): ChainHead => (index < 0 ? EMPTY_CHAIN : { seq: index, hash: log[index]!.hash });

/** True if reading these links from `after` on finds damage. Ends at the first sign. */
function damaged(links: readonly StoredBytes[], after: ChainHead): boolean {
  let last = after;
  for (const link of links) {
    try {
      const stored = parseStoredEntry(link);
      if (checkChainLink(last, stored)) return true;
      last = { seq: stored.entry.seq, hash: stored.entry.hash };
    } catch {
      return true;
    }
  }
  return false;
}

describe('the verification of 200 entries', () => {
  it('accepts them unchanged', () => expect(damaged(log, EMPTY_CHAIN)).toBe(false));

  it('finds every flipped bit', () => {
    let flips = 0;
    const unseen: string[] = [];
    // An entry links only to the one before it, so a sample of the entries is enough.
    const some = [...log.entries()].filter(([index]) => index % EVERY === 0);
    for (const [index, link] of some) {
      for (const part of ['head', 'body', 'prev', 'hash'] as const) {
        const bytes = Buffer.from(link[part]!);
        for (let bit = 0; bit < bytes.length * 8; bit++) {
          const at = bit >> 3;
          const mask = 1 << (bit & 7);
          bytes[at]! ^= mask;
          if (!damaged([{ ...link, [part]: bytes.toString() }], headAt(index - 1)))
            unseen.push(`${index} ${part} ${bit}`);
          bytes[at]! ^= mask;
          flips += 1;
        }
      }
    }
    expect(unseen).toEqual([]);
    expect(flips).toBeGreaterThan(some.length * 500 * 8);
  });

  it('finds every exchange of two entries', () => {
    const unseen: string[] = [];
    for (let a = 0; a < log.length; a++) {
      for (let b = a + 1; b < log.length; b++) {
        const swapped = [log[b]!, ...log.slice(a + 1, b), log[a]!, ...log.slice(b + 1)];
        if (!damaged(swapped, headAt(a - 1))) unseen.push(`${a} ${b}`);
      }
    }
    expect(unseen).toEqual([]);
  });

  it('finds every repeated entry', () => {
    const unseen: string[] = [];
    for (const [index, link] of log.entries())
      for (let at = 0; at <= log.length; at++)
        if (!damaged([link, ...log.slice(at)], headAt(at - 1))) unseen.push(`${index} at ${at}`);
    expect(unseen).toEqual([]);
  });

  it('finds every removed entry except the last', () => {
    for (let index = 0; index < log.length - 1; index++)
      expect(damaged(log.slice(index + 1), headAt(index - 1))).toBe(true);
    expect(damaged(log.slice(0, -1), EMPTY_CHAIN)).toBe(false);
  });

  it('finds every truncation with a seal', async () => {
    const key = newSealKey();
    const entries = log.map((link) => parseStoredEntry(link));
    const root = merkleRoot(entries.map(({ entry }) => merkleLeafOfEntry(entry)));
    const seal = signChainHead({ sessionId: 's-1', head: headAt(199), root }, key.privateKey, 0);
    const check = async (size: number) => {
      const sealed = { seal, publicKey: key.publicKey };
      return (await verifySession('s-1', { specs: SPECS, config: CONFIG }, entries.slice(0, size), { seal: sealed }))
        .seal;
    };
    expect(await check(200)).toBeNull();
    for (let size = 0; size < 200; size++) expect(await check(size)).toContain('entries were cut off');
  });

  it('finds a recomputed chain with a seal', async () => {
    const key = newSealKey();
    const root = merkleRoot(log.map(merkleLeafOfEntry));
    const seal = signChainHead({ sessionId: 's-1', head: headAt(199), root }, key.privateKey, 0);
    const forged = buildChainedEntries(
      EMPTY_CHAIN,
      conversation('s-1', 199).map((draft, index) => (index === 100 ? { ...draft, author: 'somebody' } : draft)),
    );
    expect(
      damaged(
        forged.map(({ entry, head, body }) => ({ head, body, prev: entry.prev, hash: entry.hash })),
        EMPTY_CHAIN,
      ),
    ).toBe(false);
    const result = await verifySession('s-1', { specs: SPECS, config: CONFIG }, forged, {
      seal: { seal, publicKey: key.publicKey },
    });
    expect(result).toMatchObject({ ok: false, chain: [], seal: expect.stringContaining('rewritten') });
  });
});
