/** The source of all times of a session. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}
