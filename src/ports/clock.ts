/** Time as the session sees it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}
