import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, it } from 'vitest';

/** Names that two folders export on purpose, with the reason. */
const SHARED: { readonly [name: string]: string } = {
  configureCommand: 'each file of cli/commands exports the function that configures its command',
};

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

const exportedNames = (source: string): readonly string[] => [...source.matchAll(DECLARATION)].map(([, name]) => name!);

/** The names of the functions that a file declares outside of any other function, exported or not. */
const declaredNames = (source: string): readonly string[] =>
  [...source.matchAll(/^(?:export )?(?:async )?(?:const (\w+)(?:: .+)? = (?:async )?\(|function\*? (\w+))/gm)].map(
    ([, value, declared]) => (value ?? declared)!,
  );

/** The folders that declare each exported name. */
function foldersByName(sources: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>();
  for (const [file, source] of sources)
    for (const name of exportedNames(source)) folders.set(name, (folders.get(name) ?? new Set()).add(dirname(file)));
  return folders;
}

const sharedNames = (sources: ReadonlyMap<string, string>): readonly string[] =>
  [...foldersByName(sources)].filter(([, folders]) => folders.size > 1).map(([name]) => name);

/** The folders whose files are named for a command or a route; every folder has an index.ts of its own. */
const NAMED_BY_FOLDER = /^(?:cli\/commands|server\/routes)\/|(?:^|\/)index\.ts$/;

/** File names that more than one folder has. */
const sharedFileNames = (files: readonly string[]): readonly string[] =>
  Object.entries(Object.groupBy(files, (file) => basename(file)))
    .filter(([, same = []]) => same.filter((file) => !NAMED_BY_FOLDER.test(file)).length > 1)
    .map(([name]) => name);

it('one file name has one meaning: no two folders have a file of the same name', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  expect(sharedFileNames(files)).toEqual([]);
  expect(
    sharedFileNames(['a/plan.ts', 'b/plan.ts', 'cli/commands/run.ts', 'a/run.ts', 'a/index.ts', 'index.ts']),
  ).toEqual(['plan.ts']);
});

it('one exported name has one meaning: no two folders export the same name', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  const sources = new Map(files.map((file) => [file, readFileSync(`src/${file}`, 'utf8')]));
  expect(sources.size).toBeGreaterThan(100);
  expect([...sharedNames(sources)].sort()).toEqual(Object.keys(SHARED).sort());
});

it('a name that base/ exports has one meaning: no other file declares it', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  const declared = files.map((file) => [file, declaredNames(readFileSync(`src/${file}`, 'utf8'))] as const);
  const isInBase = (file: string) => file.startsWith('base/');
  const shared = new Set(files.filter(isInBase).flatMap((file) => exportedNames(readFileSync(`src/${file}`, 'utf8'))));
  expect(shared.size).toBeGreaterThan(50);
  const again = declared.flatMap(([file, names]) =>
    isInBase(file) ? [] : names.filter((name) => shared.has(name)).map((name) => `${file}: ${name}`),
  );
  expect(again).toEqual([]);
  expect(declaredNames("const listOf = (a: unknown) => [a];\n  const textOf = '';\n")).toEqual(['listOf']);
});

it('the check finds a name exported from two folders, and allows two files of one folder', () => {
  const sources = (...files: string[]) => new Map(files.map((file) => [file, 'export interface Plan {}\n']));
  expect(sharedNames(sources('a/x.ts', 'b/y.ts'))).toEqual(['Plan']);
  expect(sharedNames(sources('a/x.ts', 'a/y.ts'))).toEqual([]);
});
