import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/**
 * How many doubtful sentences the comments of each folder may contain. A number may only fall. CONTRIBUTING.md has the
 * rules of the language; `npx vitest run test/plain-english.test.ts` prints the lines of a folder that exceeds its
 * budget.
 */
const BUDGET: { readonly [folder: string]: number } = {};

/** A comment must begin with the noun or the verb, not with a relative clause. */
const RELATIVE_START = /^(?:What|Whether|Where|Who|Whom|Whose|Which|Of|That)\b/;
/** Inversions and private words that have a plain equivalent. */
const WORDS =
  /\b(?:anew|beside|beneath|told|tells|stands|lets? go|(?<!there )(?:is|are) no(?! longer)|of ours|of yours|whom|came to be|comes to be|as ever|for good|(?<![<.])circles?|plain commands?|shipped (?:specs?|set|catalogue|peripherals?)|goes on|the most \w+ (?:that|of|at|in|to) )\b|(?:^|[.;(] ?)(?:null|undefined|absent|left out): /i;
const COLUMNS = 120;
/** Phrases that texts for operators and models replaced; each has a plain equivalent. */
const PHRASES =
  /\b(?:anew|(?<!there )(?:is|are) no (?!longer|one)|beneath|stands for|as (?:it|they) stands?|for good|fell silent|goes? on with|went? on with|lets? (?:it )?through|let through|seen by nobody|nobody (?:told|watched|knows|is there)|in good time|of ours|turned? out otherwise|what came of|where (?:it|the session) stands|keep out of the way|(?<![<.])circles?|plain commands?|shipped (?:specs?|set|catalogue|peripherals?)|goes on)\b/i;
/** A count must agree with its noun: use `plural` of base/text.ts. */
const COUNTS =
  /\$\{[^}]*(?:\.length|\.size|[cC]ount|steps|gaps|denials)\} (?:steps|lines|entries|gaps|files|matches|violations|tests|problems|denials|visits)\b/;

/** Files outside of cli/ whose texts reach only users of the command line. Library users read all other texts. */
const COMMAND_LINE_TEXTS: ReadonlySet<string> = new Set([
  'adapters/acp/bridge.ts',
  'page/live-source.ts',
  'project/project-error.ts',
  'server/create-app.ts',
  'server/routes/about.ts',
  'testing/emit-test-files.ts',
  'testing/emitted-test.ts',
]);

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

/** The words of a comment that need a plain equivalent; null if there are none. */
const doubtfulWords = ({ text }: Comment): string | null =>
  (RELATIVE_START.exec(text) ?? WORDS.exec(text.replaceAll(/`[^`]*`/g, '')))?.[0] ?? null;

/** The doubtful words of comments of a folder, with their places. */
const listDoubtful = (folder: string, comments: readonly Comment[]): readonly string[] =>
  comments.flatMap((comment) => {
    const words = doubtfulWords(comment);
    return words === null ? [] : [`${folder}/${comment.file}:${comment.line} replace "${words}"`];
  });

const files = (readdirSync('src', { recursive: true }) as string[])
  .filter((file) => /\.(?:tsx?|cjs|c)$/.test(file))
  .sort();
const folders = [...new Set(files.map((file) => file.split('/')[0]!))];
const sourceOf = (file: string): string => readFileSync(`src/${file}`, 'utf8');

/** The string literals of a source text that contain several words. */
function stringsOf(source: string): readonly string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)]
    .map(([, single, double, template]) => single ?? double ?? template ?? '')
    .filter((text) => /[a-z]{2,} [a-z]/i.test(text));
}

describe('the strings of src', () => {
  const texts = files.flatMap((file) => stringsOf(sourceOf(file)).map((text) => ({ file, text })));

  it('are found by the check', () => expect(texts.length).toBeGreaterThan(2000));

  it('contain no listed phrase', () => {
    const found = texts.flatMap(({ file, text }) =>
      (PHRASES.exec(text) ?? []).map((phrase) => ({ file, text, phrase })),
    );
    expect(found.map(({ file, text, phrase }) => `src/${file}: replace "${phrase}" in: ${text}`)).toEqual([]);
  });

  it('count one thing in the singular', () =>
    expect(texts.filter(({ text }) => COUNTS.test(text)).map(({ file, text }) => `src/${file}: ${text}`)).toEqual([]));

  it('name options of the command line only for its users', () => {
    const cli = files.filter((file) => file.startsWith('cli/')).map(sourceOf);
    const options = new Set(
      cli.flatMap((source) => [...source.matchAll(/'(?:-\w, )?(--[a-z][a-z-]*)/g)].map(([, name]) => name!)),
    );
    expect([...options]).toContain('--approve');
    const named = texts.filter(
      ({ file, text }) =>
        !file.startsWith('cli/') &&
        !COMMAND_LINE_TEXTS.has(file) &&
        [...text.matchAll(/(?<=\bhopgate [^"]*|\bwith | \()--[a-z][a-z-]*/g)].some(([option]) => options.has(option)),
    );
    expect(named.map(({ file, text }) => `src/${file}: ${text}`)).toEqual([]);
  });

  it.each([
    ['const a = "the value stands for it";', true],
    ['print(`nobody knows ${what}`)', true],
    ['const a = "a circle of waits";', true],
    ['draw(\'<circle cx and cy="3"/>\')', false],
    ['// the value stands for it\n', false],
    ["throw new Error('it is not a list')", false],
  ])('with a listed phrase are found: %j', (source, found) =>
    expect(stringsOf(source).some((text) => PHRASES.test(text))).toBe(found),
  );
});

describe('the comments of src', () => {
  it.each(folders)('in %s contain no listed phrase', (folder) => {
    const doubtful = files
      .filter((file) => file.split('/')[0] === folder)
      .flatMap((file) => listDoubtful('src', commentsOf(file, sourceOf(file))));
    expect(doubtful.length, doubtful.join('\n')).toBeLessThanOrEqual(BUDGET[folder] ?? 0);
  });

  it('have at most 120 columns', () => {
    const long = files.flatMap((file) =>
      sourceOf(file)
        .split('\n')
        .flatMap((line, at) =>
          line.length > COLUMNS && /^\s*(?:\/\*\*|\*|\/\/) .*\s/.test(line) ? [`src/${file}:${at + 1}`] : [],
        ),
    );
    expect(long).toEqual([]);
  });

  it('explain a parameter and the result once', () =>
    expect(
      files
        .flatMap((file) => commentsOf(file, sourceOf(file)))
        .filter(({ text }) => {
          const tags = [...text.matchAll(/@(?:param \w+|returns)\b/g)].map(([tag]) => tag);
          return new Set(tags).size < tags.length;
        })
        .map(({ file, line }) => `src/${file}:${line}`),
    ).toEqual([]));

  it.each([
    ['/** What came of it. */', true],
    ['/** The outcome. It is told to all. */', true],
    ['// the value stands here\n', true],
    ['/** The port. Absent: any free port. */', true],
    ['/** The outcome; null if there is none. */', false],
    ['/** Renders `anew` as a name. */', false],
  ])('with a listed phrase are found: %j', (source, doubtful) =>
    expect(commentsOf('a.ts', source).some((comment) => doubtfulWords(comment) !== null)).toBe(doubtful),
  );
});

describe('the prose of the documents', () => {
  const pages = (readdirSync('docs', { recursive: true }) as string[]).filter((file) => file.endsWith('.md'));
  it.each(['../README.md', '../CONTRIBUTING.md', ...pages])('in %s contains no listed phrase', (page) => {
    const prose = readFileSync(`docs/${page}`, 'utf8').replaceAll(/^```[\s\S]*?^```$|`[^`\n]*`/gm, '');
    expect(prose.split('\n').filter((line) => PHRASES.test(line))).toEqual([]);
  });
});

describe('the comments of test', () => {
  // This file quotes doubtful comments, and a glob in the mutation config looks like one.
  const tests = (readdirSync('test', { recursive: true }) as string[]).filter(
    (file) => /\.(?:ts|tsx|cjs|mjs)$/.test(file) && !/^(?:fixtures|plain-english|mutation\/vitest)\b/.test(file),
  );
  const comments = tests.flatMap((file) => commentsOf(file, readFileSync(`test/${file}`, 'utf8')));

  it('are found by the check', () => expect(comments.length).toBeGreaterThan(1000));

  it('contain no listed phrase', () => expect(listDoubtful('test', comments)).toEqual([]));
});
