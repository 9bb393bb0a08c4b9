import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ToolListTracker } from '../../../src/adapters/mcp/tool-list-tracker.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/** The duration of a wait in milliseconds; `meanwhile` runs after 100 ms. */
async function waited(
  tracker: ToolListTracker,
  meanwhile: () => void = () => {},
  signal = never,
  notify = () => {},
): Promise<number> {
  const begun = Date.now();
  setTimeout(meanwhile, 100);
  const waiting = tracker.waitForList(tracker.count, 500, 30, signal, notify).then(() => Date.now() - begun);
  // Not all timers: those of other libraries may never end.
  await vi.advanceTimersByTimeAsync(2_000);
  return waiting;
}

describe('an answer after a change of the tools', () => {
  it('waits until the client has listed and read the tools', async () => {
    const tracker = new ToolListTracker();
    expect(await waited(tracker, () => tracker.listed())).toBe(130);
  });

  it('does not count a list from before the change', async () => {
    const tracker = new ToolListTracker();
    tracker.listed();
    expect(await waited(tracker)).toBe(500);
  });

  it('waits only briefly for a client that never lists', async () => {
    const tracker = new ToolListTracker();
    expect([await waited(tracker), await waited(tracker), await waited(tracker)]).toEqual([500, 500, 30]);
  });

  it('waits again if the client starts listing later', async () => {
    const tracker = new ToolListTracker();
    await waited(tracker);
    await waited(tracker);
    const { count } = tracker;
    tracker.listed();
    await Promise.all([tracker.waitForList(count, 500, 30, never, () => {}), vi.advanceTimersByTimeAsync(1_000)]);
    expect(await waited(tracker, () => tracker.listed())).toBe(130);
  });

  it('notifies once more a client that has listed again before', async () => {
    const tracker = new ToolListTracker();
    const notify = vi.fn(() => tracker.listed());
    expect(await waited(tracker, () => tracker.listed(), never, notify)).toBe(130);
    expect(notify).not.toHaveBeenCalled();
    expect(await waited(tracker, () => {}, never, notify)).toBe(530);
    expect(notify).toHaveBeenCalledOnce();
  });

  it('is not delayed after a cancelled call', async () => {
    const tracker = new ToolListTracker();
    for (let turn = 0; turn < 3; turn += 1) {
      const cancel = new AbortController();
      expect(await waited(tracker, () => cancel.abort(), cancel.signal)).toBe(100);
    }
    expect(await waited(tracker)).toBe(500);
  });
});
