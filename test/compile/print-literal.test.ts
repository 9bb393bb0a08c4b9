import { spawnSync } from 'node:child_process';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printTypeScriptLiteral } from '../../src/compile/print-literal.ts';
import type { Json } from '../../src/spec/types.ts';
import { isDeep } from '../depth.ts';

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    "fruit.result == 'pass'",
    'say "no"',
    `it's "both"`,
    'back\\slash',
    'tab\tnewline\n',
    '\u2028',
    '</script>',
    '${x}`',
    'é✓🔒',
  ),
  fc.string({ minLength: 100, maxLength: 130 }).map((each) => each.replaceAll(/[^a-z]/g, 'x')),
);
const key = fc.oneof(
  fc.constantFrom('a', 'to.b', 'hop-graph', 'constructor', 'on', '$x', '_y'),
  fc.stringMatching(/^[a-z][a-z0-9.-]{0,30}$/),
);
/** The values of a config: objects with members, lists of strings, lists of objects; no empty names. */
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.array(text, { maxLength: 6 }),
    fc.array(tie('object'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
})).object;

const format = (source: string): string => {
  const { stdout, stderr, status } = spawnSync(
    'node_modules/.bin/biome',
    ['format', '--stdin-file-path=machines/x.machine.ts'],
    {
      input: source,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

it('a printed literal reads back as the same value', () => {
  fc.assert(
    fc.property(json, (value) => {
      const printed = runInNewContext(`JSON.stringify(${printTypeScriptLiteral(value)})`) as string;
      expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it.runIf(isDeep)('a printed literal has the formatter’s layout', () => {
  const values = fc.sample(json, { numRuns: 400, seed: 7 });
  const source = values
    .map((value, index) => {
      const head = `export const v${index} = f(`;
      return `${head}${printTypeScriptLiteral(value, 0, head.length, 2)});\n`;
    })
    .join('');
  expect(format(source)).toBe(source);
});
