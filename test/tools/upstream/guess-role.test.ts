import { expect, it } from 'vitest';
import { guessArgumentRole, type SchemaProperty } from '../../../src/tools/upstream/guess-role.ts';

it.each<[SchemaProperty, string]>([
  [{ type: 'string' }, 'path:write'],
  [{ type: ['string', 'null'] }, 'path:write'],
  [{ type: 'array', items: { type: 'string' } }, 'path:write'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }], default: null }, 'path:write'],
  [{ oneOf: [{ type: 'integer' }, { type: 'array', items: { type: 'string' } }] }, 'path:write'],
  [{ $ref: '#/$defs/Path' }, 'path:write'],
  [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'text'],
  [{ type: 'integer' }, 'text'],
  [{ type: 'object' }, 'text'],
])('the role of an argument "path" with the schema %j is guessed as %s', (schema, role) =>
  expect(guessArgumentRole('path', schema, false).role).toBe(role),
);
