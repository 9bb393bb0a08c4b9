import { parse } from 'smol-toml';
import { valueOr } from '../../base/value-or.ts';
import { type DetectedTest, JUNIT_REPORT_NAME } from './detected-commands.ts';
import type { ProjectFileReader } from './project-file-reader.ts';

/**
 * For Cargo.toml, detects `cargo test`, with `--workspace` if cargo would otherwise test only the package at the root.
 */
export function detectCargoTest(tree: ProjectFileReader): DetectedTest | null {
  const text = tree.read('Cargo.toml');
  if (text === null) return null;
  const isRoot = /^\[workspace\]/m.test(text) && /^\[package\]/m.test(text) && !/^default-members\b/m.test(text);
  return { run: ['cargo', 'test', ...(isRoot ? ['--workspace'] : [])], report: 'none', because: 'Cargo.toml' };
}

/** Maximum number of Go modules with a command of their own. */
const MAX_MODULES = 8;

/** For go.mod, detects `go test ./...`; also for each module below the root, because `./...` does not include them. */
export function detectGoTests(tree: ProjectFileReader): readonly DetectedTest[] {
  const folders = tree.list('').filter(isGoFolder);
  const below = [
    ...folders,
    ...folders.flatMap((at) =>
      tree
        .list(at)
        .filter(isGoFolder)
        .map((name) => `${at}${name}`),
    ),
  ];
  const modules = below.filter((folder) => tree.list(folder).includes('go.mod'));
  const root = tree.read('go.mod') === null ? [] : [''];
  const goTest = ['go', 'test', './...'];
  if (root.length + modules.length > MAX_MODULES)
    return root.map(() => ({
      run: goTest,
      report: 'none',
      because: `go.mod; ${modules.length} more modules untested`,
    }));
  return [...root, ...modules].map((folder) => ({
    run: folder === '' ? goTest : ['go', '-C', folder.slice(0, -1), ...goTest.slice(1)],
    report: 'none',
    because: `${folder}go.mod`,
  }));
}

/** Folders that the go command ignores. */
const isGoFolder = (name: string): boolean =>
  name.endsWith('/') && !/^(?:[._]|(?:testdata|vendor|node_modules)\/$)/.test(name);

/** Tasks of a Rakefile that run tests, and the text that shows that the file has them. */
const RAKE_TASKS = [
  ['test', /\bTestTask\b|\btask[ (]+[:'"]?test\b/],
  ['spec', /\bRSpec::Core::RakeTask\b|\btask[ (]+[:'"]?spec\b/],
] as const;

/** The test command of a build tool, by the file at the root that shows that the project uses it. */
const BUILD_TOOLS: readonly (readonly [sign: RegExp, run: string])[] = [
  [/^build\.sbt$/, 'sbt test'],
  [/^project\.clj$/, 'lein -o test'],
  [/^mix\.exs$/, 'mix test'],
  [/\.slnx?$/, 'dotnet test --no-restore'],
  [/^pubspec\.yaml$/, 'dart test'],
  [/^build\.zig$/, 'zig build test'],
  [/^dune-project$/, 'dune test'],
  [/^\.busted$/, 'busted'],
];

/**
 * The tests of all languages but JavaScript, Rust, Go and Python. Commands get no network, so a build tool must not
 * look for newer packages. CMake, Meson and autotools build in a temporary folder: CMake and Meson keep the path of the
 * folder, and autotools write generated files next to the sources.
 */
export function detectOtherTests(tree: ProjectFileReader): readonly DetectedTest[] {
  const names = new Set(tree.list(''));
  const has = (...all: string[]): string | undefined => all.find((name) => names.has(name));
  const named = (sign: RegExp): string | undefined => [...names].find((name) => sign.test(name));
  const found = (because: string | undefined, run: readonly string[], report: DetectedTest['report'] = 'none') =>
    because === undefined ? [] : [{ run, report, because }];
  const bundled = names.has('Gemfile') || names.has('gems.rb') ? ['bundle', 'exec'] : [];
  const isTested = /\b(?:enable_testing|include *\( *CTest)\b/i.test(tree.read('CMakeLists.txt') ?? '');
  const bats = ['test', 'tests'].find((folder) => tree.list(folder).some((name) => name.endsWith('.bats')));
  const rakefile = tree.read('Rakefile') ?? '';
  const rakeTask = RAKE_TASKS.find(([, sign]) => sign.test(rakefile))?.[0];
  // A repository with several of these build files builds the same program with each; the first one counts.
  const buildSystems = [
    ...found(has('Package.swift'), ['swift', 'test']),
    ...found(has('stack.yaml'), ['stack', 'test']),
    ...found(named(/\.cabal$/), ['cabal', 'test', 'all', '--offline']),
    ...found(isTested ? 'CMakeLists.txt' : undefined, [
      'sh',
      '-c',
      'b=$(mktemp -d) && cmake -S . -B $b && cmake --build $b && ctest --test-dir $b --output-on-failure',
    ]),
    ...found(hasMesonTest(tree) ? 'meson.build' : undefined, [
      'sh',
      '-c',
      'b=$(mktemp -d) && meson setup $b && meson test -C $b --print-errorlogs',
    ]),
    ...found(has('configure.ac', 'configure.in'), [
      'sh',
      '-c',
      `b=$(mktemp -d) && cp -R . $b && cd $b && ${names.has('configure') ? '' : 'autoreconf --install && '}./configure && make check`,
    ]),
  ];
  return [
    ...found(has('pom.xml'), [names.has('mvnw') ? './mvnw' : 'mvn', '--offline', '--batch-mode', 'test']),
    ...found(has('build.gradle', 'build.gradle.kts'), [
      names.has('gradlew') ? './gradlew' : 'gradle',
      '--offline',
      'test',
    ]),
    ...found(has('.rspec'), [...bundled, 'rspec']),
    ...(rakeTask && !(rakeTask === 'spec' && names.has('.rspec'))
      ? found('Rakefile', [...bundled, 'rake', rakeTask])
      : []),
    ...found(has('phpunit.xml', 'phpunit.xml.dist'), ['vendor/bin/phpunit', '--log-junit', JUNIT_REPORT_NAME], {
      junit: JUNIT_REPORT_NAME,
    }),
    ...found(tree.list('t').some((name) => name.endsWith('.t')) ? 't/' : undefined, ['prove', '-lr', 't']),
    ...BUILD_TOOLS.flatMap(([sign, run]) => found(named(sign), run.split(' '))),
    ...found(bats, ['bats', '--tap', bats ?? ''], 'tap'),
    ...buildSystems.slice(0, 1),
  ];
}

/** True if `meson.build`, or one in a folder that it includes, has a test: without one, `meson test` passes. */
function hasMesonTest(tree: ProjectFileReader, folder = ''): boolean {
  const text = tree.read(`${folder}meson.build`) ?? '';
  if (/^[ \t]*test *\(/m.test(text)) return true;
  const included = [...text.matchAll(/^[ \t]*subdir *\( *'([\w.+-]+)(?:\/*)'/gm)];
  return included.some(([, name]) => name !== '..' && name !== '.' && hasMesonTest(tree, `${folder}${name}/`));
}

/** The first existing test script under a usual name that is written for a shell. */
export function detectTestScript(tree: ProjectFileReader): DetectedTest | null {
  const names = ['test.sh', 'tests.sh', 'run_tests.sh', 'run-tests.sh', 'test_runner'];
  for (const path of [...names, 'test/run.sh', 'tests/run.sh']) {
    const shell = /^#!.*?\b(bash|dash|ksh|zsh|sh)\b/.exec(tree.read(path) ?? '')?.[1];
    if (shell !== undefined) return { run: [shell, path], report: 'none', because: path };
  }
  return null;
}

/** Deno's tests, unless package.json names a test script, which may run on Deno itself. */
export function detectDenoTest(tree: ProjectFileReader): DetectedTest | null {
  const because = ['deno.json', 'deno.jsonc'].find((file) => tree.read(file) !== null);
  if (because === undefined) return null;
  const hasTask = /"test"\s*:\s*["{]/.test(tree.read(because) ?? '');
  return { run: hasTask ? ['deno', 'task', 'test'] : ['deno', 'test', '--allow-all'], report: 'none', because };
}

/** Detects pytest if a file mentions it. The environment manager whose lock file exists, such as uv, runs it. */
export function detectPytest(tree: ProjectFileReader): DetectedTest | null {
  const because = pytestSign(tree);
  if (because === null) return null;
  const files = new Set(tree.list(''));
  const through = files.has('uv.lock') ? ['uv', 'run', '--no-sync'] : files.has('poetry.lock') ? ['poetry', 'run'] : [];
  return {
    run: [...through, 'pytest', `--junitxml=${JUNIT_REPORT_NAME}`],
    report: { junit: JUNIT_REPORT_NAME },
    because,
  };
}

/** Detects Python's own runner if there are test files and nothing mentions pytest. */
export function detectUnittest(tree: ProjectFileReader): DetectedTest | null {
  if (pytestSign(tree) !== null) return null;
  for (const folder of ['tests', 'test', '']) {
    const file = tree.list(folder).find((name) => /^test.*\.py$/.test(name));
    if (file === undefined) continue;
    const path = folder === '' ? file : `${folder}/${file}`;
    // Tests in a package import each other by the package's name, so discovery starts from its parent folder.
    const start =
      folder === '' ? [] : ['-s', folder, ...(tree.list(folder).includes('__init__.py') ? ['-t', '.'] : [])];
    return { run: ['python3', '-m', 'unittest', 'discover', ...start], report: 'none', because: path };
  }
  return null;
}

function pytestSign(tree: ProjectFileReader): string | null {
  for (const file of ['pytest.ini', '.pytest.ini', 'conftest.py', 'tests/conftest.py'])
    if (tree.read(file) !== null) return file;
  if (/^\[pytest\]/m.test(tree.read('tox.ini') ?? '')) return 'tox.ini: [pytest]';
  if (/^\[tool:pytest\]/m.test(tree.read('setup.cfg') ?? '')) return 'setup.cfg: [tool:pytest]';
  const toml = tree.read('pyproject.toml');
  if (toml === null) return null;
  // A file that is not TOML is ignored.
  return valueOr(() => mentionsPytest(parse(toml)), false) ? 'pyproject.toml: pytest' : null;
}

/** True if a key or requirement has that name: `[tool.pytest.ini_options]`, `dev = ["pytest>=8"]`, `pytest = "^8"`. */
function mentionsPytest(value: unknown): boolean {
  if (typeof value === 'string') return /^pytest(?![\w-])/.test(value);
  if (Array.isArray(value)) return value.some(mentionsPytest);
  if (typeof value !== 'object' || value === null || value instanceof Date) return false;
  return Object.entries(value).some(([key, inner]) => key === 'pytest' || mentionsPytest(inner));
}
