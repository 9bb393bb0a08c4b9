import { describe, expect, it } from 'vitest';
import { toBody } from '../../src/evidence/bodies.ts';
import {
  readErrorSize,
  readFieldText,
  readFieldTexts,
  readFirstField,
  readPatternId,
  toDialectRecord,
} from '../../src/evidence/dialects/fields.ts';
import type { Json } from '../../src/spec/types.ts';

describe('a record of any dialect', () => {
  it('has normalised keys', () => {
    expect(toDialectRecord({ ':psr/id': 1, Pur_Outcome: 2, 'success?': 3, 'a b': 4, 'a:b?c': 5 })).toEqual({
      'psr-id': 1,
      'pur-outcome': 2,
      success: 3,
      'a-b': 4,
      'a:b?c': 5,
    });
    for (const value of [null, undefined, 'a', 1, [], [{}]]) expect(toDialectRecord(value)).toBeNull();
  });

  it('yields the value of the first field that has one', () => {
    expect(readFirstField({ a: null, b: 0, c: 1 }, ['x', 'a', 'b', 'c'])).toBe(0);
    expect(readFirstField({ a: null }, ['a', 'x'])).toBeUndefined();
  });

  it.each<[Json | undefined, string | null]>([
    [' a ', 'a'],
    [':success', 'success'],
    ['a:b', 'a:b'],
    [': a', ': a'],
    [7, '7'],
    [false, 'false'],
    ['  ', null],
    [null, null],
    [undefined, null],
    [{}, null],
    [['a'], null],
  ])('reads %j as the text %j', (value, read) => expect(readFieldText(value)).toBe(read));

  it.each<[Json | undefined, string[]]>([
    [undefined, []],
    [null, []],
    ['a', ['a']],
    [' ', []],
    [
      ['a', null, ' ', 1, { b: 1 }, ['c']],
      ['a', '1', '{"b":1}', '["c"]'],
    ],
    [{ a: 1 }, ['{"a":1}']],
  ])('reads %j as the texts %j', (value, read) => expect(readFieldTexts(value)).toEqual(read));

  it.each<[Json | undefined, number | null]>([
    [0.3, 0.3],
    [7, 1],
    [-1, 0],
    ['0.3', 0.3],
    ['9', 1],
    ['none', 0],
    ['Low', 0.25],
    [':medium', 0.5],
    ['high', 1],
    ['much', null],
    ['constructor', null],
    ['', null],
    [null, null],
    ['Infinity', null],
  ])('reads %j as a deviation of %j', (value, off) => expect(readErrorSize(value)).toBe(off));

  it.each<[Json | undefined, string | null]>([
    ['a/b', 'a/b'],
    [{ 'ref/type': 'pattern', 'ref/id': 'a', id: 'b' }, 'a'],
    [{ id: 'b', pattern: 'd' }, 'b'],
    [{ 'pattern-id': 'c', pattern: 'd' }, 'c'],
    [{ pattern: 'd' }, 'd'],
    [{ name: 'e' }, null],
    [undefined, null],
  ])('reads %j as the pattern %j', (value, id) => expect(readPatternId(value)).toBe(id));
});

it('hopgate’s own bodies are recognised by their event', () => {
  expect(toBody({ event: 'stop' })).toEqual({ event: 'stop' });
  for (const body of [null, 'stop', 7, {}, { event: 7 }, { event: null }, Object.assign([], { event: 'stop' })])
    expect(toBody(body as Json)).toBeNull();
});
