import { validate, version } from 'uuid';
import { expect, it } from 'vitest';
import { makeTimeOrderedId } from '../../src/stores/time-ordered-id.ts';

it('ids are version 7 UUIDs in increasing order', () => {
  const ids = Array.from({ length: 20_000 }, makeTimeOrderedId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  for (const id of ids.slice(0, 100)) expect([validate(id), version(id)]).toEqual([true, 7]);
});

it('an id contains the time when it was made', () => {
  const before = Date.now();
  const at = Number.parseInt(makeTimeOrderedId().replaceAll('-', '').slice(0, 12), 16);
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
});
