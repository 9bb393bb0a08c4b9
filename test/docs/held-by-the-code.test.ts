import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { blocksOf, pages } from './blocks.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

it('docs/dependencies.md lists the dependencies of package.json and no others', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const [atRunTime = '', forDevelopment = ''] = read('docs/dependencies.md').split('## For development');
  const listed = (text: string): readonly string[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  expect(listed(atRunTime).toSorted()).toEqual(Object.keys(dependencies).toSorted());
  const asListed = (name: string): string => (name.startsWith('@types/') ? '@types/*' : name);
  expect(listed(forDevelopment).toSorted()).toEqual(
    [...new Set(Object.keys(devDependencies).map(asListed))].toSorted(),
  );
});

// A literal on purpose: the words of the glossary, one for each idea.
const WORDS = [
  'peripheral',
  'envelope',
  'entry',
  'exit',
  'hop',
  'edge',
  'visit',
  'mode',
  'mode gate',
  'session',
  'backpack',
  ...[
    'step',
    'denial',
    'fruit',
    'principal',
    'evidence',
    'thread',
    'round trip',
    'PSR',
    'PUR',
    'PAR',
    'bell',
    'whistle',
  ],
  'inbox',
  'turn',
];

it('docs/glossary.md defines every word of the domain', () => {
  const bold = [...read('docs/glossary.md').matchAll(/\*\*([^*]+)\*\*/g)].flatMap(([, words]) => words!.split(', '));
  expect(WORDS.filter((word) => !bold.includes(word))).toEqual([]);
});

const forContributors = pages().filter((page) =>
  /^(?:CONTRIBUTING|docs\/architecture|docs\/extend\/.*)\.md$/.test(page),
);
const sources = [
  'package.json',
  'tsdown.config.ts',
  ...['src', 'test', 'specs', 'docs'].flatMap((folder) =>
    (readdirSync(folder, { recursive: true }) as string[]).map((file) => `${folder}/${file}`),
  ),
];
const words = new Set(
  sources
    .filter((file) => /\.(?:ts|tsx|cjs|json)$/.test(file) && !file.startsWith('test/docs/'))
    .flatMap((file) => read(file).match(/#?[A-Za-z_]\w*/g) ?? []),
);

/** The files and identifiers that the prose of a page names and neither the sources nor the blocks of the page have. */
function missingNames(page: string, text = read(page)): readonly string[] {
  const blocks = blocksOf(page, text).map((block) => `${block.file} ${block.text}`);
  const code = [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, name]) => name!);
  return code.flatMap((name) => {
    const isFile = /^[\w./-]+\.(?:tsx?|cjs|yaml|txt)$/.test(name);
    const named = isFile ? [name] : (name.match(/(?<![-.\w/])#?(?:[a-z]+[A-Z]\w*|[A-Z]+_[A-Z_]+)\b(?!-)/g) ?? []);
    return named.filter(
      (each) =>
        !blocks.some((block) => block.includes(each)) &&
        !(isFile ? sources.some((file) => `/${file}`.endsWith(`/${each}`)) : words.has(each)),
    );
  });
}

it.each(forContributors)('%s names only files and identifiers that exist', (page) => {
  expect(missingNames(page)).toEqual([]);
});

it('a file and an identifier that do not exist are found', () => {
  const text = '`gate/decide.ts` has `decideStep`; `gate/gone.ts` and `goneForEver` of `THE_GONE` do not exist.';
  expect(missingNames('a.md', text)).toEqual(['gate/gone.ts', 'goneForEver', 'THE_GONE']);
});
