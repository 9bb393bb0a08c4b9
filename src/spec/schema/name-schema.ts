import { z } from 'zod';

/**
 * The form of every name in a spec. Excludes `.` and `#`, which xstate uses in paths, and integers, which JavaScript
 * reorders as keys.
 */
const NAME = /^[a-z][a-z0-9-]*$/;

export const SpecName = z
  .string()
  .regex(NAME, 'is not a name: use a lower-case letter first, then lower-case letters, digits and -');
