// The states of the hop graph that are not peripherals. No peripheral may have these names.

/** Initial state of every session. */
export const OUTSIDE_STATE = 'outside';
export const CLOSED_STATE = 'closed';
