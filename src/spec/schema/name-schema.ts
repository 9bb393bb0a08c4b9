import { z } from 'zod';

/** Every name in a spec: `.` and `#` are path syntax in xstate, and JavaScript reorders integer-like keys. */
const NAME = /^[a-z][a-z0-9-]*$/;

export const Name = z
  .string()
  .regex(NAME, 'is not a name: use a lower-case letter first, then lower-case letters, digits and -');
