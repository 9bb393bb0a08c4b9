import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/**
 * How many doubtful sentences the comments of each folder may contain. A number may only fall. CONTRIBUTING.md has the rules of the language;
 * `npx vitest run test/plain-english.test.ts` prints the lines of a folder that exceeds its budget.
 */
const BUDGET: { readonly [folder: string]: number } = {};
/** How many lines of comments may be longer than 120 columns: lines of code examples. This number may only fall, too. */
const LONG_LINES = 4;

/** A comment must begin with the noun or the verb, not with a relative clause. */
const RELATIVE_START = /^(?:What|Whether|Where|Who|Whom|Whose|Which|Of|That)\b/;
/** Inversions and private words that have a plain equivalent. */
const WORDS =
  /\b(?:anew|beside|beneath|told|tells|stands|lets? go|(?<!there )(?:is|are) no(?! longer)|of ours|of yours|whom|came to be|comes to be|as ever|for good)\b/i;
const COLUMNS = 120;

interface Comment {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The comments of a source text, one text for each block or run of lines, without their markers. */
function commentsOf(file: string, source: string): readonly Comment[] {
  return [...source.matchAll(/\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/ .*\n)+|(?<=[;,{}()\]] )\/\/ .*$/gm)].map((match) => ({
    file,
    line: source.slice(0, match.index).split('\n').length,
    text: match[0].replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)[ \t]?|\*\/$/gm, '').trim(),
  }));
}

const isDoubtful = ({ text }: Comment): boolean =>
  RELATIVE_START.test(text) || WORDS.test(text.replaceAll(/`[^`]*`/g, ''));

const files = (readdirSync('src', { recursive: true }) as string[])
  .filter((file) => /\.(?:ts|cjs|c)$/.test(file))
  .sort();
const folders = [...new Set(files.map((file) => file.split('/')[0]!))];
const sourceOf = (file: string): string => readFileSync(`src/${file}`, 'utf8');

describe('the comments of src', () => {
  it.each(folders)('%s keep to plain sentences', (folder) => {
    const doubtful = files
      .filter((file) => file.split('/')[0] === folder)
      .flatMap((file) => commentsOf(file, sourceOf(file)).filter(isDoubtful));
    const lines = doubtful.map(({ file, line, text }) => `src/${file}:${line} ${text.split('\n')[0]}`);
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(BUDGET[folder] ?? 0);
  });

  it('fit into 120 columns', () => {
    const long = files.flatMap((file) =>
      sourceOf(file)
        .split('\n')
        .flatMap((line, at) =>
          line.length > COLUMNS && /^\s*(?:\/\*\*|\*|\/\/) .*\s/.test(line) ? [`src/${file}:${at + 1}`] : [],
        ),
    );
    expect(long.length, long.join('\n')).toBeLessThanOrEqual(LONG_LINES);
  });

  it.each([
    ['/** What came of it. */', true],
    ['/** The outcome. It is told to all. */', true],
    ['// the value stands here\n', true],
    ['/** The outcome; null if there is none. */', false],
    ['/** Renders `anew` as a name. */', false],
  ])('are recognised: %j', (source, doubtful) => expect(commentsOf('a.ts', source).some(isDoubtful)).toBe(doubtful));
});
