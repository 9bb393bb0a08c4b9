import { FixedClock } from '../doubles/fixed-clock.ts';

/** A test clock that can also be set back, like the clock of a machine. */
export class SettableTestClock extends FixedClock {
  #behind = 0;

  override now(): number {
    return super.now() - this.#behind;
  }

  /** Advances the clock by milliseconds; a negative number sets it back. */
  pass(milliseconds: number): void {
    if (milliseconds < 0) this.#behind -= milliseconds;
    else this.advance(milliseconds);
  }
}
