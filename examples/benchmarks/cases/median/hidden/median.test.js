import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from '../src/median.js';

test('numbers are sorted as numbers', () => assert.equal(median([10, 9, 1]), 9));
test('the median of an even count', () => assert.equal(median([4, 1, 3, 2]), 2.5));
test('the list is left as it is', () => {
  const numbers = [3, 1, 2];
  median(numbers);
  assert.deepEqual(numbers, [3, 1, 2]);
});
