import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { schemaProblem } from '../../src/gate/bind-arguments.ts';
import type { Json } from '../../src/spec/types.ts';

const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });

const numbers = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
const schemas = fc.record(
  {
    type: fc.constantFrom('string', 'boolean', 'integer', 'integer', 'integer', 'number', 'array'),
    minimum: numbers,
    maximum: numbers,
    description: fc.string(),
    maxLength: fc.nat(3),
  },
  { requiredKeys: ['type'] },
);
const values = fc.oneof(numbers, fc.string(), fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({}));

it('the fast check of simple schemas gives the validator’s result and words, and leaves other schemas to the validator', () => {
  let judged = 0;
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const plain = schemaProblem(value as Json, schema as { [keyword: string]: Json });
      if (plain === undefined) return;
      judged++;
      const validate = ajv.compile(schema);
      const problem = validate(value) ? null : (validate.errors?.[0]?.message ?? '');
      expect(plain).toBe(problem);
    }),
    { numRuns: 5000 },
  );
  expect(judged).toBeGreaterThan(100);
  expect(schemaProblem('x', { type: 'string', maxLength: 3 })).toBeUndefined();
  expect(schemaProblem('x', { enum: ['x'] })).toBeUndefined();
});
