import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf, parseJson } from '../../base/json.ts';
import { isPathWithin } from '../../base/paths.ts';
import { findProgram } from '../../base/process.ts';
import { pickStringFields } from './package-json.ts';
import type { ProjectFileReader } from './project-file-reader.ts';

const MAX_WORDS = 2000;

/** The programs of an ecosystem, by the file at the root that identifies the ecosystem. */
const ECOSYSTEMS: { readonly [file: string]: readonly string[] } = {
  'package.json': ['node', 'npm'],
  'pnpm-lock.yaml': ['pnpm'],
  'yarn.lock': ['yarn'],
  'bun.lock': ['bun'],
  'bun.lockb': ['bun'],
  'deno.json': ['deno'],
  'pyproject.toml': ['python3'],
  'setup.py': ['python3'],
  'requirements.txt': ['python3'],
  'uv.lock': ['uv'],
  'poetry.lock': ['poetry'],
  'pdm.lock': ['pdm'],
  'Cargo.toml': ['cargo', 'rustc'],
  'go.mod': ['go', 'gofmt'],
  'pom.xml': ['java', 'mvn'],
  'build.gradle': ['java', 'gradle'],
  'build.gradle.kts': ['java', 'gradle'],
  Gemfile: ['ruby', 'bundle'],
  Rakefile: ['ruby', 'rake'],
  'composer.json': ['php', 'composer'],
  'build.sbt': ['java', 'sbt'],
  'project.clj': ['java', 'lein'],
  'mix.exs': ['elixir', 'mix'],
  'Package.swift': ['swift'],
  'pubspec.yaml': ['dart'],
  'build.zig': ['zig'],
  'stack.yaml': ['stack'],
  'cabal.project': ['cabal', 'ghc'],
  'dune-project': ['dune', 'ocamlfind'],
  'Makefile.PL': ['perl', 'prove'],
  'CMakeLists.txt': ['cmake', 'ctest'],
  'meson.build': ['meson', 'ninja'],
  'configure.ac': ['autoreconf', 'make'],
};

/** The operator's programs that the sandbox shows only if `programs` in hopgate.yaml names them. */
export interface ProposedPrograms {
  /** Programs of the repository's ecosystems, and programs with which a line of its scripts begins. */
  readonly certain: readonly string[];
  /** Programs whose names occur in the other lines of its Makefile or package.json. */
  readonly possible: readonly string[];
}

/**
 * Finds the programs that a repository needs, that are on the operator's PATH and that the sandbox does not show yet.
 * The result comes from comparing words. It is a proposal for the operator to read, and gives no permission.
 */
export function proposePrograms(
  tree: ProjectFileReader,
  path: string | undefined,
  shown: readonly string[],
): ProposedPrograms {
  const isHidden = (name: string): boolean => {
    const file = findProgram(name, path);
    return file !== null && !['/usr', '/bin', '/sbin', ...shown].some((folder) => isPathWithin(folder, file));
  };
  const files = new Set(tree.list(''));
  const makefiles = ['GNUmakefile', 'makefile', 'Makefile'].map((name) => tree.read(name) ?? '');
  const manifest = tree.read('package.json') ?? '';
  const lines = [
    ...makefiles.flatMap((text) => text.split('\n').filter((line) => line.startsWith('\t'))),
    ...Object.values(pickStringFields(fieldsOf(parseJson(manifest))['scripts'])),
  ];
  const first = lines.flatMap((line) => [...line.matchAll(/(?:^[\s@-]*|[;&|]\s*)([a-z][\w.+-]*)(?=\s|$)/g)]);
  const certain = [
    ...Object.entries(ECOSYSTEMS).flatMap(([file, names]) => (files.has(file) ? names : [])),
    ...first.map((match) => match[1]!),
  ].filter(isHidden);
  const words = [...makefiles, manifest].flatMap((text) => text.match(/(?<![\w./-])[a-z][\w.+-]+(?![\w./=-])/g) ?? []);
  const possible = [...new Set(words)].slice(0, MAX_WORDS).filter((word) => !certain.includes(word) && isHidden(word));
  return { certain: [...new Set(certain)], possible };
}

/** A folder for `cache`: a folder that test runs share, or a folder of the operator, relative to the home folder. */
export type ProposedCache = string | { readonly read: string };

/** Package managers by the file that shows their use, unless another file shows that the packages are in the tree. */
const EXTERNAL: readonly {
  readonly usedIf: readonly [file: string, RegExp];
  readonly unless?: readonly [file: string, RegExp];
  readonly folders: readonly string[];
}[] = [
  { usedIf: ['go.sum', /\S/], unless: ['vendor/modules.txt', /\S/], folders: ['go/pkg/mod'] },
  {
    usedIf: ['Cargo.lock', /^source = /m],
    unless: ['.cargo/config.toml', /^[ \t]*replace-with\b/m],
    folders: ['.cargo/registry', '.cargo/git'],
  },
  { usedIf: ['pom.xml', /<(?:dependency|plugin|parent|project)\b/], folders: ['.m2/repository', '.m2/wrapper'] },
];

/** The caches that let tests run offline: the operator's existing modules, and Go's build cache, which saves time. */
export function proposeCaches(tree: ProjectFileReader, home: string | undefined): readonly ProposedCache[] {
  const build: readonly ProposedCache[] = tree.read('go.mod') === null ? [] : ['~/.cache/go-build'];
  const has = ([file, text]: readonly [string, RegExp]) => text.test(tree.read(file) ?? '');
  const modules = EXTERNAL.filter(({ usedIf, unless }) => has(usedIf) && !(unless && has(unless)))
    .flatMap(({ folders }) => folders)
    .filter((folder) => home !== undefined && existsSync(join(home, folder)))
    .map((folder) => ({ read: `~/${folder}` }));
  return [...build, ...modules];
}
