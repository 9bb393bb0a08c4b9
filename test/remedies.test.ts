import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The position of the remedy among the arguments of each function that makes a refusal or an error with one. */
const REMEDY_ARGUMENT: { readonly [maker: string]: number } = {
  CliError: 2,
  usageError: 1,
  ApiError: 2,
  StageFailure: 2,
  outOfScopeStop: 2,
  invalidArgumentStop: 2,
  sandboxFailedStop: 1,
  urlOutOfScope: 1,
  refuseArgumentByScope: 2,
  refuseArgument: 2,
  invalidCall: 2,
  malformedUrl: 1,
};
/** The folders of these makers; other folders have functions of the same names. */
const MAKERS = /^(?:cli\/(?!install|report-error)|server|social|messages|gate|tools)\b/;
/** describeDenial makes sentences of these files' clauses; test/gate/words.test.ts checks them as rendered. */
const CLAUSES = /^gate\/(?:describe-denial|refuse-visit|scope\/scope-problem)\.ts$/;
const MAKER = new RegExp(`(?<!['.\\w])(?:${Object.keys(REMEDY_ARGUMENT).join('|')})\\(`, 'g');
const PROPERTY = /\b(?:remedy|(?<!")fix)(?::| =)\s*/g;
/** One remedy is one or more sentences; a template may begin or end with an inserted text. */
const SENTENCES = /^(?:[A-Z$"`])[\s\S]*(?:[.!?}]|\.\))$/;

/** The arguments of a call, or the value of a property, as source text: from `at` to the bracket that closes it. */
function listAt(source: string, at: number): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const [token] of source.slice(at).matchAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|[\s\S]/g)) {
    if ('([{'.includes(token)) depth++;
    if (')]};'.includes(token) && depth-- === 0) break;
    if (token === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim());
}

/** The texts of the string literals that a value may be: `a ? 'x' : 'y'` may be two. Nested templates are left out. */
const literals = (value: string): readonly string[] =>
  [...value.matchAll(/(?<![=!]== )(?<![[(])(?<=^|[?:|] )(['"`])((?:(?!\1)[^\\]|\\.)*)\1(?![\])])/g)].map(
    ([, , text]) => text!,
  );

function remediesOf(source: string): readonly string[] {
  const values = [
    ...[...source.matchAll(MAKER)].map(
      (at) => listAt(source, at.index + at[0].length)[REMEDY_ARGUMENT[at[0].slice(0, -1)]!],
    ),
    ...[...source.matchAll(PROPERTY)].map((at) => listAt(source, at.index + at[0].length)[0]),
  ];
  return values
    .flatMap((value) => literals(value ?? ''))
    .filter((text) => text.includes(' ') && !/\$\{[^}]*$|^\}/.test(text));
}

it('every remedy is sentences: a capital letter at the beginning, a period at the end', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  const own = files.filter((file) => MAKERS.test(file) && !CLAUSES.test(file));
  const found = own.flatMap((file) => remediesOf(readFileSync(`src/${file}`, 'utf8')).map((text) => ({ file, text })));
  expect(found.length).toBeGreaterThan(200);
  const calls = own.map((file) => readFileSync(`src/${file}`, 'utf8')).join('\n');
  expect(Object.keys(REMEDY_ARGUMENT).filter((maker) => !calls.includes(`${maker}(`))).toEqual([]);
  expect(found.filter(({ text }) => !SENTENCES.test(text)).map(({ file, text }) => `src/${file}: ${text}`)).toEqual([]);
});

it.each([
  ["new CliError('no', 'it is not', 'try it again')", ['try it again']],
  ["throw usageError(`a, ${f(x)}`, ok ? 'Do it.' : 'do not')", ['Do it.', 'do not']],
  ["({ remedy: a === 'b' ? 'C d.' : `e ${f}` })", ['C d.', 'e ${f}']],
])('the check reads the remedies of %s', (source, texts) => expect(remediesOf(source)).toEqual(texts));
