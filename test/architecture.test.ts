import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const BELOW_SRC = [
  'base',
  'project',
  'spec',
  'gate',
  'evidence',
  'ports',
  'session',
  'stores',
  'tools',
  'operator',
  'messages',
  'social',
];

/**
 * The imports that are allowed between folders of src/. The arrows are literals on purpose: changing the architecture
 * means editing this table in the same commit. `''` is src/ itself (index.ts).
 */
const ARROWS: { readonly [folder: string]: readonly string[] } = {
  base: [],
  spec: ['base'],
  gate: ['base', 'spec'],
  evidence: ['base', 'spec'],
  audit: ['base', 'spec', 'evidence'],
  compile: ['base', 'spec', 'gate'],
  project: ['base', 'spec', 'gate'],
  telemetry: ['base', 'ports', 'spec', 'evidence'],
  world: ['base', 'ports'],
  ports: ['spec', 'gate', 'evidence'],
  session: ['base', 'spec', 'gate', 'compile', 'evidence', 'ports'],
  messages: ['base', 'ports'],
  social: ['base', 'spec', 'gate', 'evidence', 'ports', 'messages', 'session'],
  stores: ['base', 'ports', 'messages', 'spec', 'gate', 'evidence'],
  tools: ['base', 'ports', 'messages', 'spec', 'gate', 'evidence', 'agency'],
  adapters: ['base', 'messages', 'project', 'session', 'ports', 'gate', 'spec'],
  testing: ['base', 'session', 'ports', 'spec', 'gate', 'evidence', 'audit', 'stores'],
  operator: ['base', 'ports', 'spec', 'gate', 'evidence'],
  agency: ['base', 'project', 'spec', 'stores'],
  view: ['base', 'spec', 'gate', 'compile', 'evidence', 'session'],
  page: ['base', 'view', 'spec', 'evidence'],
  '': [...BELOW_SRC, 'audit', 'compile', 'telemetry', 'testing', 'world'],
  trajectories: ['base', 'spec', 'gate', 'ports', 'session', ''],
  daemon: [...BELOW_SRC, 'adapters', 'compile', 'telemetry', 'view', ''],
  server: [...BELOW_SRC, 'agency', 'compile', 'daemon', 'view', ''],
  cli: [
    ...BELOW_SRC,
    'audit',
    'compile',
    'adapters',
    'testing',
    'agency',
    'daemon',
    'server',
    'view',
    'telemetry',
    'world',
    'trajectories',
    '',
  ],
};

/** Folders whose imports may only be of types. */
const TYPES_ONLY = ['ports'];

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const source = (...paths: string[]): string => readFileSync(posix.join('src', ...paths), 'utf8');
const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.[cm]?tsx?$/.test(file)).sort();
const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '');

/** Every relative import of a module: `from`, re-exports, bare and dynamic ones, and types by `import('…')`. */
function importsOf(text: string): readonly Import[] {
  const code = text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
  const found = code.matchAll(
    /\b(?:(import|export)(\s+type\b)?[^'"`;()]*?\bfrom\s*|import\s*|import\s*\(\s*)(['"`])(\.[^'"`]*)\3/g,
  );
  return [...found].map((match) => ({ specifier: match[4]!, typeOnly: match[2] !== undefined }));
}

/** The package's name and version. */
const isManifest = (specifier: string): boolean => /^(?:\.\.\/)+package\.json$/.test(specifier);

/** The imports of a file that leave its folder against the arrows. */
function strangers(file: string, text: string): readonly string[] {
  const from = folderOf(file);
  const allowed = ARROWS[from] ?? [];
  return importsOf(text)
    .map(({ specifier, typeOnly }) => ({
      to: folderOf(posix.join(posix.dirname(file), specifier)),
      specifier,
      typeOnly,
    }))
    .filter(({ to, specifier, typeOnly }) => {
      if (to === from || isManifest(specifier)) return false;
      if (TYPES_ONLY.includes(from) && !typeOnly) return true;
      return !allowed.includes(to);
    })
    .map(({ specifier }) => specifier);
}

describe('the allowed imports between the folders of src', () => {
  it('are checked for all files', () => expect(files.length).toBeGreaterThan(50));

  it('list every folder', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).filter((name) => !Object.hasOwn(ARROWS, name))).toEqual([]);
  });

  it.each(files)('are the only ones in %s', (file) => expect(strangers(file, source(file))).toEqual([]));
});

/** Folders with more than 20 files. The list may only shrink: divide a folder by subject before it grows. */
const CROWDED: readonly string[] = [];

describe('the folders of src', () => {
  it('are described in docs/architecture.md', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => `src/${name}/`).filter((folder) => !page.includes(`\`${folder}\``))).toEqual([]);
  });

  it('contain at most 20 files each, except the listed ones', () => {
    const counts = new Map<string, number>();
    const all = readdirSync('src', { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath } of all) counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1);
    const crowded = [...counts].filter(([, count]) => count > 20).map(([folder]) => folder);
    expect(crowded.sort()).toEqual(CROWDED);
  });
});

/** A chain of imports that leads from a file back to itself, types included; null if there is none. */
function cycleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const next of imports.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return null;
}

describe('the imports between the files of src', () => {
  const targets = (file: string) =>
    importsOf(source(file)).map(({ specifier }) => posix.join(posix.dirname(file), specifier));

  it('form no cycle, including type imports', () => {
    expect(cycleIn(new Map(files.map((file) => [file, targets(file)])))).toBeNull();
  });

  it('are searched for cycles of any length', () => {
    const chain: [string, string[]][] = [
      ['a', ['b', 'c']],
      ['b', ['d']],
      ['c', ['d']],
      ['d', []],
    ];
    expect(cycleIn(new Map(chain))).toBeNull();
    expect(cycleIn(new Map([...chain, ['d', ['c']]]))).toEqual(['d', 'c', 'd']);
    expect(cycleIn(new Map([['a', ['a']]]))).toEqual(['a', 'a']);
  });
});

describe('the search for imports', () => {
  it.each([
    ["import { a } from '../stores/memory.ts';"],
    ["import {\n  a,\n  b,\n} from '../stores/memory.ts';"],
    ["import a, * as b from '../stores/memory.ts'"],
    ["import type { A } from '../stores/memory.ts';"],
    ["export * from '../stores/memory.ts';"],
    ["export { a } from '../stores/memory.ts';"],
    ["import '../stores/memory.ts';"],
    ["const a = await import('../stores/memory.ts');"],
    ["type A = import('../stores/memory.ts').A;"],
    ["import { ok } from '../spec/types.ts';\nimport { a } from '../stores/memory.ts';"],
  ])('finds %j', (text) => expect(strangers('gate/planted.ts', text)).toEqual(['../stores/memory.ts']));

  it.each([
    ["import { a } from '../spec/types.ts';"],
    ["import { a } from './paths.ts';"],
    ["import { posix } from 'node:path';"],
    ["// import { a } from '../stores/memory.ts';"],
    ["/** import('../stores/memory.ts') */"],
  ])('allows %j', (text) => expect(strangers('gate/planted.ts', text)).toEqual([]));

  it('allows ports only type imports', () => {
    expect(strangers('ports/planted.ts', "import type { Json } from '../spec/types.ts';")).toEqual([]);
    expect(strangers('ports/planted.ts', "import { MODES } from '../spec/types.ts';")).toEqual(['../spec/types.ts']);
  });

  it('refuses an import that leaves src', () => {
    expect(strangers('gate/planted.ts', "import { a } from '../../test/a.ts';")).toEqual(['../../test/a.ts']);
  });
});

describe('the titles of the tests', () => {
  const written = (readdirSync('test', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'));

  /** The full titles of a file: the words of the nearest `describe`, and those of the test. */
  function titlesOf(code: string): readonly (readonly [subject: string, title: string])[] {
    // A call starts a line; the rows of an `each` may lie between its name and its title. The indent gives the nesting.
    const calls =
      /^( *)(?:(describe|it|test)\b|[\])}]+(?=\())(?:[.\w]|\([^'"`\n]*\))*(?:\(\s*(['"`])((?:\\.|(?!\3)[^\\])*)\3)?/gm;
    const names: string[] = [];
    const subjects: string[] = [];
    return [...code.matchAll(calls)].flatMap(([, indent = '', name, , title]) => {
      if (name !== undefined) names[indent.length] = name;
      if (title === undefined) return [];
      subjects.length = indent.length;
      const subject = subjects.findLast((words) => words !== undefined) ?? '';
      if (names[indent.length] !== 'describe') return [[subject, title] as const];
      subjects[indent.length] = title;
      return [];
    });
  }
  const titles = written.flatMap((file) =>
    titlesOf(readFileSync(posix.join('test', file), 'utf8')).map(([subject, title]) => ({ file, subject, title })),
  );

  it('are found by the check', () => expect(titles.length).toBeGreaterThan(2900));

  it('continue the words of their describe without repeating them', () => {
    const repeated = titles.filter(({ subject, title }) => {
      const words = subject.replace(/(?: in)?[ ,:]*(?:%s|\$|\().*/, '').toLowerCase();
      return words !== '' && (/^(?:the|an?|hopgate) /.test(title) || title.toLowerCase().startsWith(`${words} `));
    });
    expect(repeated).toEqual([]);
  });

  it('do not begin with `it`, which the runner prints before them', () =>
    expect(titles.filter(({ title }) => title.startsWith('it '))).toEqual([]));
});

describe('a hook that answers without the daemon', () => {
  /** The packages that a file loads at its start, with the chain of files that leads to each. */
  function packagesOf(file: string, chain: readonly string[] = [], seen = new Set<string>()): readonly string[] {
    if (seen.has(file) || !file.endsWith('.ts')) return [];
    seen.add(file);
    const code = source(file).replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '');
    const loaded = [...code.matchAll(/^(?:import|export)(?! type\b)([^'"`;()]*?)from '([^']+)'/gm)].filter(
      ([, names = '']) => !/^\s*\{(?:\s*type [\w\s]+,?)+\}\s*$/.test(names),
    );
    return loaded.flatMap(([, , specifier = '']) => {
      if (specifier.startsWith('node:')) return [];
      if (!specifier.startsWith('.')) return [`${[...chain, file].join(' → ')} → ${specifier}`];
      return packagesOf(posix.join(posix.dirname(file), specifier), [...chain, file], seen);
    });
  }
  /** Packages of a few kilobytes. */
  const SMALL = ['canonicalize', 'fastest-levenshtein', 'uuid'];
  const START = ['daemon/hook/hook-process.ts', 'daemon/hook/answer-hook.ts', 'daemon/session-host.ts'];

  it.each([...START, 'adapters/claude-code/handle-claude-event.ts'])(
    'loads no large package at the start of %s',
    (file) => expect(packagesOf(file).filter((chain) => !SMALL.some((name) => chain.endsWith(` ${name}`)))).toEqual([]),
  );
  it('is checked by a search that finds zod behind the schemas', () => {
    expect(packagesOf('spec/schema/path-schema.ts')).toEqual(['spec/schema/path-schema.ts → zod']);
  });
});
