import { z } from 'zod';

/**
 * The form of every name, without `.` and `#` (xstate's path syntax) and integers (JavaScript reorders them). Every
 * object has a member `constructor`, so a field of this name would have a value where it is absent.
 */
const NAME = /^(?!constructor$)[a-z][a-z0-9-]*$/;

export const SpecNameSchema = z
  .string()
  .regex(NAME, 'is not a name: use a lower-case letter first, then lower-case letters, digits and -; not constructor');
