import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Relisting } from '../../../src/adapters/mcp/relisting.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/** How long a wait takes, in milliseconds, with `meanwhile` happening after 100 of them. */
async function waited(relisting: Relisting, meanwhile: () => void = () => {}, signal = never): Promise<number> {
  const begun = Date.now();
  setTimeout(meanwhile, 100);
  const waiting = relisting.since(relisting.count, 500, 30, signal).then(() => Date.now() - begun);
  await vi.runAllTimersAsync();
  return waiting;
}

describe('an answer waits', () => {
  it('until the client has listed the tools and taken them in', async () => {
    const relisting = new Relisting();
    expect(await waited(relisting, () => relisting.listed())).toBe(130);
  });

  it('not for a list that came before the change', async () => {
    const relisting = new Relisting();
    relisting.listed();
    expect(await waited(relisting)).toBe(500);
  });

  it('no more than it has to for a client that never lists', async () => {
    const relisting = new Relisting();
    expect([await waited(relisting), await waited(relisting), await waited(relisting)]).toEqual([500, 500, 30]);
  });

  it('again for a client that lists after all', async () => {
    const relisting = new Relisting();
    await waited(relisting);
    await waited(relisting);
    const { count } = relisting;
    relisting.listed();
    await Promise.all([relisting.since(count, 500, 30, never), vi.runAllTimersAsync()]);
    expect(await waited(relisting, () => relisting.listed())).toBe(130);
  });

  it('not when the call is cancelled, which says nothing of the client', async () => {
    const relisting = new Relisting();
    for (let turn = 0; turn < 3; turn += 1) {
      const cancel = new AbortController();
      expect(await waited(relisting, () => cancel.abort(), cancel.signal)).toBe(100);
    }
    expect(await waited(relisting)).toBe(500);
  });
});
