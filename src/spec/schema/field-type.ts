import { z } from 'zod';
import { FRUIT_TYPES } from '../types.ts';

/** The schema of a type, as authors write it for a fruit field or a field that a tool reports. */
export const FieldTypeSchema = z
  .union([z.enum(FRUIT_TYPES), z.array(z.string().min(1)).min(1)])
  .describe(`One of ${FRUIT_TYPES.join(', ')}, or the list of values that it may take.`);
