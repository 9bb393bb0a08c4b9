const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/**
 * How long to leave a server alone after its `failures`-th failure in a row (from 1): 100 ms, doubled each time up to 30 s, of which a random half
 * is left out, so that many sessions do not come back at once.
 * @param random at least 0, less than 1
 */
export function backoff(failures: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return Math.round(whole * (1 - random / 2));
}
