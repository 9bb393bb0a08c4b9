import fc from 'fast-check';
import { expect, it } from 'vitest';
import { reconnectDelay } from '../../../src/tools/upstream/upstream-connection.ts';

const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

it('the delay is between half and all of the doubling time, from 100 ms to 30 s', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), draw, (failures, random) => {
      const whole = Math.min(30_000, 100 * 2 ** (failures - 1));
      expect(reconnectDelay(failures, random)).toBeGreaterThanOrEqual(Math.floor(whole / 2));
      expect(reconnectDelay(failures, random)).toBeLessThanOrEqual(whole);
    }),
  );
});

it('the delays of parallel failures differ', () => {
  const waits = new Set(Array.from({ length: 20 }, (_, index) => reconnectDelay(5, index / 20)));
  expect(waits.size).toBe(20);
});
