import { expect, it } from 'vitest';
import { findBlobIds } from '../../src/evidence/find-blob-ids.ts';

const [A, B] = ['a'.repeat(64), '0'.repeat(64)] as const;

it('all blobs of a body are found, each once', () => {
  expect(findBlobIds({ blob: A, bytes: 1 })).toEqual([A]);
  expect(
    findBlobIds([{ x: [{ blob: A, bytes: 0 }, null, 'y'] }, { blob: B, bytes: 2, more: { blob: A, bytes: 1 } }]),
  ).toEqual([A, B]);
});

it.each([
  [null],
  ['a'],
  [7],
  [[]],
  [{}],
  [{ blob: A }],
  [{ blob: A, bytes: '1' }],
  [{ blob: 7, bytes: 1 }],
  [{ blob: `${A}a`, bytes: 1 }],
  [{ blob: `x${A.slice(1)}`, bytes: 1 }],
  [{ blob: A.toUpperCase(), bytes: 1 }],
])('no blob is found in %j', (body) => expect(findBlobIds(body)).toEqual([]));
