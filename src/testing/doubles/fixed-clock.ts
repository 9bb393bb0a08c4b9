import { assertArgument } from '../../base/assert-argument.ts';
import type { Clock } from '../../ports/clock.ts';

/** A clock that moves only when it is advanced; it never goes back. */
export class FixedClock implements Clock {
  #now: number;

  /** @param at epoch milliseconds, or an ISO 8601 time; TypeError for anything else */
  constructor(at: number | string = '2026-01-01T00:00:00.000Z') {
    this.#now = typeof at === 'string' ? Date.parse(at) : at;
    assertArgument(Number.isFinite(this.#now), 'FixedClock: at', 'epoch milliseconds or an ISO 8601 time', at);
  }

  now(): number {
    return this.#now;
  }

  /** Moves the clock forward. Throws for a negative or non-finite step. */
  advance(milliseconds: number): void {
    if (!(milliseconds >= 0 && Number.isFinite(milliseconds)))
      throw new Error(`a clock cannot advance by ${milliseconds} ms`);
    this.#now += milliseconds;
  }
}
