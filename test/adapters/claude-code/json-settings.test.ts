import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { setJsonKey } from '../../../src/cli/install/json-settings.ts';

const layouts = [undefined, 1, 2, 4, '\t'] as const;

describe('a change of one key of a settings file', () => {
  it.each([
    [null, '{\n  "k": false\n}\n'],
    ['', '{\n  "k": false\n}\n'],
    ['{}', '{\n  "k": false\n}'],
    ['{\n}\n', '{\n  "k": false\n}\n'],
    ['{ "a": 1 }\n', '{ "a": 1, "k": false }\n'],
    ['{\n\t"a": [1,\t2]\n}\n', '{\n\t"a": [1,\t2],\n\t"k": false\n}\n'],
    ['{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "k": false\r\n}\r\n'],
    ['{\n  "k": true,\n  "b": {"k": 1}\n}\n', '{\n  "k": false,\n  "b": {"k": 1}\n}\n'],
    ['{ "x": "k", "k" :  {"k": [1]} }', '{ "x": "k", "k" :  false }'],
  ])('turns %j into %j', (before, after) => {
    expect(setJsonKey(before, 'f', 'k', false)).toBe(after);
  });

  it.each([
    ['{ "k": false, "b": 2 }', '{ "b": 2 }'],
    ['{ "b": 2, "k": false }', '{ "b": 2 }'],
    ['{\n  "a": 1,\n  "k": {"z": [1]},\n  "b": 2\n}\n', '{\n  "a": 1,\n  "b": 2\n}\n'],
    ['{\n  "a": "k"\n}\n', '{\n  "a": "k"\n}\n'],
  ])('that removes the key turns %j into %j', (before, after) => {
    expect(setJsonKey(before, 'f', 'k', undefined)).toBe(after);
  });

  it('keeps every other key of any content', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(object, fc.string(), fc.constantFrom(...layouts), (object, key, layout) => {
        fc.pre(key !== '__proto__' && !Object.hasOwn(object, '__proto__'));
        const text = JSON.stringify(object, null, layout);
        const set = setJsonKey(text, 'f', key, false) ?? '';
        expect(JSON.parse(set)).toEqual({ ...JSON.parse(text), [key]: false });
        const gone = setJsonKey(set, 'f', key, undefined) ?? '';
        const { [key]: _, ...rest } = JSON.parse(text) as { [key: string]: unknown };
        expect(JSON.parse(gone)).toEqual(rest);
        expect(Object.keys(JSON.parse(gone))).toEqual(Object.keys(rest));
        if (!Object.hasOwn(object, key) && Object.keys(object).length > 0) expect(gone).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it.each(['{', '[]', 'null', '// a comment\n{}', '{ "a": 1, }', '"x"'])(
    'is refused if the file is %j, which the client cannot read either',
    (text) => {
      expect(() => setJsonKey(text, '/home/me/.claude/settings.json', 'k', false)).toThrow('not readable as JSON');
    },
  );
});
