import { describe, expect, it } from 'vitest';
import { buildChainedEntries } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { merkleLeafOfEntry } from '../../src/evidence/merkle.ts';
import {
  isSignedBy,
  newSealKey,
  parseSeal,
  publicKeyOf,
  SealError,
  sealProblem,
  signChainHead,
} from '../../src/evidence/seal.ts';
import { conversation } from './drafts.ts';
import { merkleRoot } from './merkle-root.ts';

const NOW = Date.parse('2026-02-01T00:00:00.000Z');
const log = buildChainedEntries(EMPTY_CHAIN, conversation('s-1', 9)).map(({ entry }) => entry);
const key = newSealKey();

const sealOf = (entries: typeof log, privateKey = key.privateKey) =>
  signChainHead(
    {
      sessionId: 's-1',
      head: { seq: entries.length - 1, hash: entries.at(-1)!.hash },
      root: merkleRoot(entries.map(merkleLeafOfEntry)),
    },
    privateKey,
    NOW,
  );

const read = (entries: typeof log, size: number, sessionId = 's-1') => {
  const part = entries.slice(0, size);
  const sealed =
    entries.length < size ? null : { head: part.at(-1)!.hash, root: merkleRoot(part.map(merkleLeafOfEntry)) };
  return { sessionId, size: entries.length, sealed };
};

describe('a seal', () => {
  it('verifies with its own key and no other', () => {
    const seal = sealOf(log);
    expect(isSignedBy(seal, key.publicKey)).toBe(true);
    expect(isSignedBy(seal, publicKeyOf(key.privateKey))).toBe(true);
    expect(isSignedBy(seal, newSealKey().publicKey)).toBe(false);
  });

  it('is invalid if a word of it is changed', () => {
    const seal = sealOf(log);
    for (const change of [
      { size: 9 },
      { head: '0'.repeat(64) },
      { sealedAt: '2026-02-01T00:00:01.000Z' },
      { sessionId: 's-2' },
    ])
      expect(isSignedBy({ ...seal, statement: { ...seal.statement, ...change } }, key.publicKey)).toBe(false);
  });

  it('reads back from its file', () => {
    const seal = sealOf(log);
    expect(parseSeal(JSON.stringify(seal))).toEqual(seal);
    for (const text of ['', '{}', JSON.stringify({ ...seal, more: 1 })])
      expect(() => parseSeal(text)).toThrow(SealError);
  });

  it('matches its session, also after the session continued', () => {
    const seal = sealOf(log.slice(0, 6));
    expect(sealProblem(seal, read(log.slice(0, 6), 6))).toBeNull();
    expect(sealProblem(seal, read(log, 6))).toBeNull();
  });

  it('does not match a truncated, rewritten or other session', () => {
    const seal = sealOf(log);
    expect(sealProblem(seal, read(log.slice(0, 9), 10))).toContain('10 were sealed');
    expect(sealProblem(seal, { ...read(log, 10), sealed: { head: '1'.repeat(64), root: merkleRoot([]) } })).toContain(
      'rewritten',
    );
    expect(sealProblem(seal, { ...read(log, 10), sealed: { head: log[9]!.hash, root: merkleRoot([]) } })).toContain(
      'replaced',
    );
    expect(sealProblem(seal, read(log, 10, 's-2'))).toContain('s-2');
  });

  it('accepts only an Ed25519 key', () => {
    expect(() => sealOf(log, 'secret')).toThrow(SealError);
    expect(() => isSignedBy(sealOf(log), 'secret')).toThrow(SealError);
  });
});
