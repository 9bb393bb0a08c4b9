import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Relisting } from '../../../src/adapters/mcp/relisting.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/** The duration of a wait in milliseconds; `meanwhile` runs after 100 ms. */
async function waited(
  relisting: Relisting,
  meanwhile: () => void = () => {},
  signal = never,
  notify = () => {},
): Promise<number> {
  const begun = Date.now();
  setTimeout(meanwhile, 100);
  const waiting = relisting.waitForList(relisting.count, 500, 30, signal, notify).then(() => Date.now() - begun);
  // Not all timers: those of other libraries may never end.
  await vi.advanceTimersByTimeAsync(2_000);
  return waiting;
}

describe('an answer after a change of the tools', () => {
  it('waits until the client has listed and read the tools', async () => {
    const relisting = new Relisting();
    expect(await waited(relisting, () => relisting.listed())).toBe(130);
  });

  it('does not count a list from before the change', async () => {
    const relisting = new Relisting();
    relisting.listed();
    expect(await waited(relisting)).toBe(500);
  });

  it('waits only briefly for a client that never lists', async () => {
    const relisting = new Relisting();
    expect([await waited(relisting), await waited(relisting), await waited(relisting)]).toEqual([500, 500, 30]);
  });

  it('waits again if the client starts listing later', async () => {
    const relisting = new Relisting();
    await waited(relisting);
    await waited(relisting);
    const { count } = relisting;
    relisting.listed();
    await Promise.all([relisting.waitForList(count, 500, 30, never, () => {}), vi.advanceTimersByTimeAsync(1_000)]);
    expect(await waited(relisting, () => relisting.listed())).toBe(130);
  });

  it('notifies once more a client that has listed again before', async () => {
    const relisting = new Relisting();
    const notify = vi.fn(() => relisting.listed());
    expect(await waited(relisting, () => relisting.listed(), never, notify)).toBe(130);
    expect(notify).not.toHaveBeenCalled();
    expect(await waited(relisting, () => {}, never, notify)).toBe(530);
    expect(notify).toHaveBeenCalledOnce();
  });

  it('is not delayed after a cancelled call', async () => {
    const relisting = new Relisting();
    for (let turn = 0; turn < 3; turn += 1) {
      const cancel = new AbortController();
      expect(await waited(relisting, () => cancel.abort(), cancel.signal)).toBe(100);
    }
    expect(await waited(relisting)).toBe(500);
  });
});
