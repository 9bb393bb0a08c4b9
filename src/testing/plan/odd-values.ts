import { isObject, type Json } from '../../base/json.ts';
import { sampleOf } from './sample-arguments.ts';

type Schema = { readonly [keyword: string]: Json };

/** Values around the edges of a JSON Schema: other types, beyond bounds, outside lists. Some may be valid. */
export function oddValues(schema: Schema): readonly Json[] {
  const { minimum, maximum, items } = schema;
  const bounds = [minimum, maximum].filter((bound) => typeof bound === 'number');
  return [
    { wrong: true },
    ['no', 7],
    'no such value',
    true,
    1.5,
    -1,
    ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1]),
    ...(isObject(items) ? [[sampleOf(items), { wrong: true }]] : []),
  ];
}
