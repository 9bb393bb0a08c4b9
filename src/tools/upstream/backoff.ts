const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/**
 * Delay before the next attempt after `failures` consecutive failures (from 1): 100 ms, doubled each time up to 30 s,
 * minus a random part of up to half, so that many sessions do not retry at once.
 * @param random at least 0, less than 1
 */
export function backoff(failures: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return Math.round(whole * (1 - random / 2));
}
