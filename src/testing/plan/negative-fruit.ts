import type { Json, PeripheralSpec } from '../../spec/types.ts';
import { statedFruit } from './stated-fruit.ts';

type Fruit = { readonly [field: string]: Json };

/** One value of each type of a stated field, and some that look similar. */
const OF_EVERY_KIND: readonly Json[] = ['stated', '', 1, 1.5, true, null, ['stated'], { stated: true }];

/** Fruits that rules may refuse, each with its defect: unknown, invented, missing, or of another type. */
export function oddFruits(spec: PeripheralSpec): readonly (readonly [what: string, fruit: Fruit])[] {
  const stated = statedFruit(spec);
  return [
    ['a strange fruit', { ...stated, 'no-such-field': 1 }],
    ['a fruit of an inherited name', { ...stated, constructor: 1 }],
    ...Object.entries(spec.fruit).flatMap(([field, rule]): (readonly [string, Fruit])[] => {
      const { [field]: _, ...without } = stated;
      if (rule.kind === 'observed') return [[`${field} made up`, { ...stated, [field]: { made: 'up' } }]];
      return [
        [`no ${field}`, without],
        ...OF_EVERY_KIND.map((value) => [`${field} ${JSON.stringify(value)}`, { ...stated, [field]: value }] as const),
      ];
    }),
  ];
}
