import { type EDNVal, parseEDNString, toEDNString } from 'edn-data';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EdnNode, ednIdentityOf } from '../../src/spec/edn/edn-node.ts';
import { parseEdn } from '../../src/spec/edn/read-edn.ts';
import { tokenizeEdn } from '../../src/spec/edn/tokenize-edn.ts';

/** A read form in the terms of `edn-data`, so that both can be compared. */
function toEdnData(node: EdnNode): EDNVal {
  switch (node.kind) {
    case 'map':
      return { map: node.entries.map(([key, value]) => [toEdnData(key), toEdnData(value)]) };
    case 'set':
      return { set: node.items.map(toEdnData) };
    case 'list':
      return { list: node.items.map(toEdnData) };
    case 'vector':
      return node.items.map(toEdnData);
    case 'keyword':
      return { key: node.text };
    case 'symbol':
      return { sym: node.text };
    case 'char':
      return { char: node.text };
    case 'string':
      return node.text;
    case 'number':
    case 'boolean':
      return node.value;
    case 'nil':
      return null;
    case 'tagged':
      return { tag: node.tag, val: toEdnData(node.form) } as EDNVal;
  }
}

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}(\/[a-z]{1,4})?$/);
const identity = (value: EDNVal): string => {
  const read = parseEdn(toEDNString(value));
  return read.ok ? ednIdentityOf(read.node) : toEDNString(value);
};
const { form } = fc.letrec<{ form: EDNVal }>((tie) => ({
  form: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      name.map((key) => ({ key })),
      fc.string().filter((text) => !/[\b\f]/.test(text)),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      name.filter((sym) => !['nil', 'true', 'false'].includes(sym)).map((sym) => ({ sym })),
    ),
    fc.array(tie('form'), { maxLength: 4 }),
    fc.array(tie('form'), { maxLength: 4 }).map((list) => ({ list })),
    fc.uniqueArray(tie('form'), { maxLength: 4, selector: identity }).map((set) => ({ set })),
    fc
      .uniqueArray(fc.tuple(tie('form'), tie('form')), { maxLength: 4, selector: ([key]) => identity(key) })
      .map((map) => ({ map })),
  ),
}));

describe('parseEdn', () => {
  it('parses every value that toEDNString prints', () => {
    fc.assert(
      fc.property(form, (value) => {
        const read = parseEdn(toEDNString(value));
        expect(read.ok && toEdnData(read.node)).toEqual(value);
      }),
    );
  });

  it('refuses every text that lost a bracket', () => {
    const collections = form.filter((value) => typeof value === 'object' && value !== null && !('key' in value));
    fc.assert(
      fc.property(collections, fc.nat(), (value, pick) => {
        const text = toEDNString(value);
        const brackets = tokenizeEdn(text).tokens.filter(({ kind }) => kind === 'open' || kind === 'close');
        fc.pre(brackets.length > 0);
        const bracket = brackets[pick % brackets.length]!;
        const lost = text.slice(0, bracket.offset) + text.slice(bracket.offset + bracket.text.length);
        expect(parseEdn(lost).ok).toBe(false);
      }),
    );
  });

  it('never throws for any text', () => {
    const alphabet = fc.constantFrom(...':#{}[]()"\\;_ \n,a1-+./Nn');
    fc.assert(
      fc.property(fc.string({ unit: alphabet, maxLength: 30 }), (text) => {
        const read = parseEdn(text);
        expect(read.ok || read.problems.length > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what edn-data alone would accept', () => {
    const lenient = ['{:a 1', '{:a}', '{:a 1 :a 2}', '#{:a :a}'];
    for (const text of lenient) expect(() => parseEDNString(text)).not.toThrow();
    expect(lenient.map(parseEdn).map(({ ok }) => ok)).toEqual([false, false, false, false]);
  });

  it.each([
    ['{:a 1', 1, 1, '"{" is never closed'],
    ['{:a [1}\n', 1, 7, 'unexpected "}"; "[" of line 1 is open'],
    [':a)', 1, 3, 'unexpected ")"; nothing is open'],
    ['{:a 1} :b', 1, 8, 'a second form follows; put everything into one map'],
    ['{:a 1\n :b}', 2, 2, 'this key of the map has no value'],
    ['{:a 1\n :b 2\n :a 3}', 3, 2, ':a is twice a key of the map'],
    ['#{[1 2] (1 2)}', 1, 9, '[1, 2] is twice in the set'],
    ['; nothing\n', 1, 1, 'there is nothing to read'],
    ['[1 #_]', 1, 4, 'no form follows #_'],
    ['"open', 1, 1, 'a string has no closing "'],
    ['[: 1]', 1, 2, ': is not EDN'],
    ['[01]', 1, 2, '01 is not EDN'],
    ['[\\spice]', 1, 2, '\\spice is not a character'],
  ])('says where %j is wrong', (text, line, column, message) => {
    expect(parseEdn(text)).toEqual({ ok: false, problems: [{ line, column, message }] });
  });

  it('says where a string is too long for its patterns', () => {
    const problem = { line: 2, column: 1, message: 'this is too long for EDN; write it as JSON' };
    expect(parseEdn(`[\n"${'x'.repeat(8 << 20)}"]`)).toEqual({ ok: false, problems: [problem] });
  });

  it('omits comments and discarded forms', () => {
    const read = parseEdn('{:a #_ #_ [1 2] :gone 3 ; :a 4\n #_:b :c, "#_ ; {"}');
    expect(read.ok && toEdnData(read.node)).toEqual({
      map: [
        [{ key: 'a' }, 3],
        [{ key: 'c' }, '#_ ; {'],
      ],
    });
  });

  it.each(['[', '#_', '#a '])('refuses a text with unbounded nesting of %s', (begin) => {
    const read = parseEdn(begin.repeat(100_000));
    expect(read).toMatchObject({ ok: false, problems: [{ message: 'nested deeper than 200 forms' }] });
  });
});
