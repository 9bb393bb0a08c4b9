import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

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
  ...['peripheral', 'envelope', 'entry', 'exit', 'hop', 'edge', 'visit', 'mode', 'mode gate', 'session', 'backpack'],
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
  ...['inbox', 'turn'],
];

it('docs/glossary.md defines every word of the domain', () => {
  const bold = [...read('docs/glossary.md').matchAll(/\*\*([^*]+)\*\*/g)].flatMap(([, words]) => words!.split(', '));
  expect(WORDS.filter((word) => !bold.includes(word))).toEqual([]);
});
