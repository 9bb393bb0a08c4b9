import { FixedClock } from '../doubles/fixed-clock.ts';

/** A clock that can also be set back, as that of a machine can. */
export class TrialClock extends FixedClock {
  #behind = 0;

  override now(): number {
    return super.now() - this.#behind;
  }

  /** Lets so many milliseconds pass; less than 0: sets the clock back. */
  pass(milliseconds: number): void {
    if (milliseconds < 0) this.#behind -= milliseconds;
    else this.advance(milliseconds);
  }
}
