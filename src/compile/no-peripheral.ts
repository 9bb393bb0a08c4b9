// The states of the hop graph that are no peripherals: names that no peripheral may have.

/** Where every session begins. */
export const OUTSIDE = 'outside';
/** Where it ends, for good. */
export const CLOSED = 'closed';
