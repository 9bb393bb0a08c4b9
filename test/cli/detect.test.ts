import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { detectDeployCommands, detectGitConfig, detectProject } from '../../src/cli/detect/detect-project.ts';
import { addManifestsToScope, excludeTestFiles, proposeEditScope } from '../../src/cli/detect/edit-scope.ts';
import { findFilesToUnmask, unmaskPatternOf } from '../../src/cli/detect/files-to-unmask.ts';
import { splitUnquotedWords } from '../../src/cli/detect/package-json.ts';
import { prefersSingleQuotes } from '../../src/cli/detect/prefers-single-quotes.ts';
import { proposeCaches, proposePrograms } from '../../src/cli/detect/proposed-programs.ts';
import { renderProjectConfig } from '../../src/cli/detect/render-config.ts';
import { writePathReason } from '../../src/gate/scope/write-paths.ts';
import { DEFAULT_MASKS } from '../../src/spec/policy/default-masks.ts';
import { parseProjectConfig } from '../../src/spec/resolve/parse-project-config.ts';
import { isTestFile } from '../../src/spec/test-files.ts';
import { depth, isDeep } from '../depth.ts';
import { memoryTree } from './memory-tree.ts';

/** A home folder with these folders, and these programs on the PATH. */
function machineWith(programs: readonly string[], folders: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), 'hopgate-test-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  for (const folder of [...folders, ...programs.map((program) => dirname(program))])
    mkdirSync(join(home, folder), { recursive: true });
  for (const program of programs) writeFileSync(join(home, program), '#!/bin/sh\n', { mode: 0o755 });
  return { home, path: `${home}/bin:${home}/shown`, shown: join(home, 'shown') };
}

const noGit = async (): Promise<null> => null;
const tests = async (files: { readonly [path: string]: string }) =>
  (await detectProject(memoryTree(files), noGit)).test.map(({ run, report }) => ({ run: run.join(' '), report }));
const scripts = (all: { readonly [name: string]: string }, more: object = {}) =>
  JSON.stringify({ scripts: all, ...more });

describe('the detection of tests', () => {
  const packages = {
    'packages/a/package.json': scripts({ test: 'vitest' }, { name: '@x/a' }),
    'packages/b/package.json': scripts({ test: 'node --test' }, { name: '@x/b' }),
    'packages/c/package.json': scripts({ build: 'tsc' }),
    'packages/d/package.json': scripts({ test: 'echo "Error: no test specified" && exit 1' }),
    'node_modules/e/package.json': scripts({ test: 'mocha' }),
  };
  const workspaces = { workspaces: ['./packages/*', '!packages/b'] };

  it.each([
    [
      'pnpm',
      { 'pnpm-workspace.yaml': "packages:\n  - 'packages/**'\n", 'pnpm-lock.yaml': '', 'package.json': '{}' },
      ['pnpm -r {args} run test'],
    ],
    ['npm', { 'package.json': scripts({}, workspaces) }, ['npm test --workspaces --if-present']],
    [
      'yarn',
      { 'package.json': scripts({}, { workspaces: { packages: ['packages/*'] } }), 'yarn.lock': '' },
      ['yarn workspace @x/a run test', 'yarn workspace @x/b run test'],
    ],
    ['bun', { 'package.json': scripts({}, workspaces), 'bun.lock': '' }, ['bun run --filter * test']],
    ['a root with its own test script', { 'package.json': scripts({ test: 'turbo test' }, workspaces) }, ['npm test']],
    ['an unreadable list', { 'pnpm-workspace.yaml': '{', 'pnpm-lock.yaml': '', 'package.json': '{}' }, []],
  ])('proposes the tests of the packages of a workspace: %s', async (_, files, runs) => {
    expect((await tests({ ...packages, ...files })).map(({ run }) => run)).toEqual(runs);
  });

  it.each([
    ['node --test', 'node --test-reporter=tap --test', 'tap'],
    ['node --test test/a.test.js', 'node --test-reporter=tap --test test/a.test.js', 'tap'],
    ['node --test --test-reporter=tap', 'npm test', 'tap'],
    ['node --test --test-reporter=dot', 'npm test', 'none'],
    ['node --test "test/**/*.js"', 'npm test', 'none'],
    ['node test.js --test', 'npm test', 'none'],
    ['tsc && node --test', 'npm test', 'none'],
    ['vitest', 'npm test -- --run --reporter=default --reporter=junit --outputFile.junit=hopgate-junit.xml', 'junit'],
    ['vitest run', 'npm test -- --reporter=default --reporter=junit --outputFile.junit=hopgate-junit.xml', 'junit'],
    ['vitest bench', 'npm test', 'none'],
    ['vitest run --reporter=dot', 'npm test', 'none'],
    ['bin/bats test', 'npm test -- --tap', 'tap'],
    ['tape tests/*.js', 'npm test', 'tap'],
    ["mocha 'test/**/*.js'", 'npm test -- --reporter tap', 'tap'],
    ['node --test "test/*.js"', 'npm test', 'none'],
    ['jest', 'npm test', 'none'],
    ['mocha', 'npm test -- --reporter tap', 'tap'],
    ['CI=1 mocha', 'npm test', 'none'],
    ['make check', 'npm test', 'none'],
  ])('reads the script %j as %j reporting %s', async (script, run, report) => {
    const [found] = await tests({ 'package.json': scripts({ test: script }) });
    expect(found?.run).toBe(run);
    expect(typeof found?.report === 'object' ? 'junit' : found?.report).toBe(report);
  });

  it('keeps the whole script if other commands run before or after the tests', async () => {
    expect(await tests({ 'package.json': scripts({ pretest: 'tsc', test: 'node --test' }) })).toEqual([
      { run: 'npm test', report: 'none' },
    ]);
  });

  it('uses jest-junit for jest if it is installed', async () => {
    const files = { 'package.json': scripts({ test: 'jest' }, { devDependencies: { 'jest-junit': '16.0.0' } }) };
    expect(await tests(files)).toEqual([
      { run: 'npm test -- --ci --reporters=default --reporters=jest-junit', report: { junit: 'junit.xml' } },
    ]);
  });

  it.each([
    ['package-lock.json', {}, 'npm test'],
    ['pnpm-lock.yaml', {}, 'pnpm run test'],
    ['yarn.lock', {}, 'yarn run test'],
    ['bun.lock', {}, 'bun run test'],
    ['package-lock.json', { packageManager: 'pnpm@10.0.0' }, 'pnpm run test'],
  ])('runs scripts with the package manager of %s %j', async (lock, more, run) => {
    expect((await tests({ 'package.json': scripts({ test: './t.sh' }, more), [lock]: '' }))[0]?.run).toBe(run);
  });

  it.each([
    ['{'],
    ['null'],
    ['[]'],
    ['{"scripts":5}'],
    [scripts({})],
    [scripts({ test: 'echo "Error: no test specified" && exit 1' })],
  ])('finds no tests in the package.json %j', async (text) =>
    expect(await tests({ 'package.json': text })).toEqual([]),
  );

  it.each([
    [{ 'Cargo.toml': '' }, 'cargo test'],
    [{ 'Cargo.toml': '[workspace]\nmembers = ["a"]\n[package]\n' }, 'cargo test --workspace'],
    [{ 'Cargo.toml': '[workspace]\nmembers = ["a"]\n' }, 'cargo test'],
    [{ 'go.mod': 'module a' }, 'go test ./...'],
    [{ 'package.json': scripts({ test: 'bin/bats test' }), 'test/a.bats': '' }, 'npm test -- --tap'],
    [{ 'pytest.ini': '' }, 'pytest --junitxml=hopgate-junit.xml'],
    [
      { 'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "-q"\n', 'uv.lock': '' },
      'uv run --no-sync pytest --junitxml=hopgate-junit.xml',
    ],
    [{ 'pyproject.toml': '[dependency-groups]\ndev = ["pytest>=8"]\n' }, 'pytest --junitxml=hopgate-junit.xml'],
    [{ 'tests/test_a.py': '' }, 'python3 -m unittest discover -s tests'],
    [{ 'tests/test_a.py': '', 'tests/__init__.py': '' }, 'python3 -m unittest discover -s tests -t .'],
    [{ 'test_a.py': '', 'pyproject.toml': '[project]\nname = "a"\n' }, 'python3 -m unittest discover'],
    [{ 'tests/test_a.py': '', 'pytest.ini': '' }, 'pytest --junitxml=hopgate-junit.xml'],
    [{ Makefile: 'all: a b\n\ntest: all\n\tcc\n' }, 'make test'],
  ])('finds tests in %j', async (files, run) =>
    expect((await tests(files as { [path: string]: string })).map((it) => it.run)).toEqual([run]),
  );

  it.each([
    [{ 'pyproject.toml': '[project]\ndependencies = ["pytest-mock"]\n' }],
    [{ 'pyproject.toml': 'not = toml = at all' }],
    [{ 'tests/helper.py': '', 'src/contest.py': '' }],
    [{ Makefile: 'test := 5\nTESTS = test\n' }],
  ])('finds no tests in %j', async (files) => expect(await tests(files as { [path: string]: string })).toEqual([]));

  it('tests each module of a Go repository, unless they are many', async () => {
    const modules = (...folders: string[]) =>
      tests(Object.fromEntries(folders.map((folder) => [`${folder}go.mod`, ''])));
    expect((await modules('', 'sdk/', 'exporters/otlp/', '_examples/', 'a/testdata/')).map((it) => it.run)).toEqual([
      'go test ./...',
      'go -C sdk test ./...',
      'go -C exporters/otlp test ./...',
    ]);
    const many = await modules('', ...Array.from({ length: 8 }, (_, at) => `m${at}/`));
    expect(many).toEqual([{ run: 'go test ./...', report: 'none' }]);
  });

  it('omits a Makefile target that only runs the same tests', async () => {
    expect((await tests({ 'Cargo.toml': '', Makefile: 'test:\n\tcargo test\n' })).map((it) => it.run)).toEqual([
      'cargo test',
    ]);
  });

  it('splits a line into words only if a shell would run exactly these words', () => {
    const word = fc.stringMatching(/^[\w./:@%+,-]+$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        expect(splitUnquotedWords(words.join(' '))).toEqual(words);
      }),
    );
    const special = fc.constantFrom(...'|&;<>()$`\\"\'*?[#~!{}\n');
    fc.assert(
      fc.property(word, special, word, (before, char, after) => {
        fc.pre(char !== '\n');
        expect(splitUnquotedWords(`${before}${char}${after}`)).toBeNull();
      }),
    );
  });
});

describe('the detection of deploys', () => {
  it('reads scripts, targets and files, and keeps the first of each name', () => {
    const files = {
      'package.json': scripts({ deploy: 'x', 'deploy:staging': 'y', predeploy: 'z', 'deploy:UP': 'no' }),
      Makefile: 'deploy:\n\tx\ndeploy-canary: a\n\ty\n',
      'deploy.sh': '#!/bin/sh\n',
    };
    expect(detectDeployCommands(memoryTree(files)).map(({ name, run }) => [name, run.join(' ')])).toEqual([
      ['deploy', 'npm run deploy'],
      ['staging', 'npm run deploy:staging'],
      ['canary', 'make deploy-canary'],
    ]);
    expect(detectDeployCommands(memoryTree({ 'deploy.sh': '' })).map(({ run }) => run)).toEqual([['./deploy.sh']]);
  });

  it('proposes a push to origin or the only remote, on its default branch', async () => {
    const git = (answers: { readonly [args: string]: string }) => async (args: readonly string[]) =>
      answers[args.at(-1)!] ?? null;
    expect(
      await detectGitConfig(
        git({ remote: 'fork\norigin\n', 'refs/remotes/origin/HEAD': 'origin/trunk\n', HEAD: 'topic\n' }),
      ),
    ).toEqual({ remote: 'origin', branch: 'trunk' });
    expect(await detectGitConfig(git({ remote: 'up\n', HEAD: 'main\n' }))).toEqual({ remote: 'up', branch: 'main' });
    expect(await detectGitConfig(git({ remote: 'a\nb\n', HEAD: 'main\n' }))).toBeNull();
    expect(await detectGitConfig(git({}))).toBeNull();
  });
});

describe('the proposed write paths', () => {
  const scope = (names: string, git?: { ignored?: string[]; tracked?: string[] }) =>
    proposeEditScope(memoryTree(Object.fromEntries(names.split(' ').map((path) => [path, '']))), {
      ignored: new Set(git?.ignored),
      tracked: new Set(git?.tracked),
    });
  const OTHER = ['!{AGENTS,CLAUDE,GEMINI}.md'];

  // The shapes of p-map, cobra, click, jq, fastify, a monorepo and a folder of shell scripts.
  it.each<[string, string, string]>([
    [
      'a package of one folder',
      'index.js index.d.ts test.js package.json readme.md .github/w.yml',
      '. !.* !package.json !/*.config.* !node_modules/ !dist/ !coverage/',
    ],
    [
      'a flat Go package',
      'args.go args_test.go cobra.go doc/man.go site/a.md assets/l.png go.mod go.sum Makefile README.md',
      '. !.* !go.mod !go.sum !vendor/ !Makefile',
    ],
    [
      'a Python package',
      'src/click/core.py tests/conftest.py tests/test_a.py docs/a.rst examples/a.py pyproject.toml uv.lock README.md',
      'docs/ examples/ src/ tests/ *.md',
    ],
    [
      'a gem',
      'lib/rake.rb test/test_a.rb rake.gemspec Rakefile README.rdoc History.markdown',
      'docs/ lib/ test/ *.markdown *.md *.rdoc',
    ],
    [
      'a C program',
      'src/main.c src/util.h tests/t.sh m4/a.m4 vendor/x/x.c configure.ac Makefile.am NEWS.md compile.sh',
      'docs/ include/ m4/ src/ tests/ *.md *.sh',
    ],
    [
      'a web framework',
      'lib/a.js types/a.d.ts test/a.js build/gen.js docs/a.md fastify.js package.json eslint.config.js deploy/a.sh',
      'build/ docs/ lib/ test/ types/ *.js *.md !/*.config.*',
    ],
    [
      'a monorepo',
      'packages/a/package.json packages/a/src/x.ts packages/a/node_modules/y/test/i.js packages/b/dist/i.js package.json README.md',
      'docs/ packages/ test/ *.md !package.json !node_modules/ !dist/',
    ],
    [
      'a monorepo whose packages have their tests',
      'packages/a/package.json packages/a/src/__tests__/x.ts package.json README.md',
      'docs/ packages/ *.md !package.json',
    ],
    [
      'a repository whose words for ways to ship name code and documents',
      'src/charts/bar.ts src/ops/a.py src/app/app.config.ts plugins/terraform/a.zsh docs/deployment/a.md docs/deploy.md .changeset/a.md',
      '.changeset/ docs/ plugins/ src/ *.md',
    ],
    [
      'services with their ways to ship',
      'package.json deploy-prod.sh tool.sh apps/a/package.json apps/a/vite.config.ts apps/a/src/x.config.ts apps/a/k8s/a.yaml apps/b/helm/Chart.yaml apps/b/helm/README.md scripts/deploy.js scripts/x.js',
      'apps/ docs/ scripts/ test/ *.md *.sh !package.json !/deploy-* !scripts/deploy.* !apps/*/*.config.* !apps/*/k8s/ !apps/*/helm/',
    ],
    ['shell scripts', 'install tool.sh lib/common.bash README.md', 'docs/ lib/ *.md *.sh'],
    ['an empty folder', 'README.md LICENSE', '.  !.*'],
    ['a Django site', 'shop/models.py manage.py docs/a.md', 'docs/ migrations/ shop/ *.md *.py'],
  ])('for %s are its existing and usual files', (_, names, expected) => {
    const found = scope(names, { tracked: ['build/'] });
    const words = expected.split(' ').filter(Boolean);
    expect(found.filter((path) => path !== OTHER[0])).toEqual(words);
    expect(found).toContain(OTHER[0]);
  });

  it('include manifests on request, and for C without a deploy target also build files', () => {
    const withThem = (files: { readonly [path: string]: string }) =>
      addManifestsToScope(proposeEditScope(memoryTree(files)), memoryTree(files));
    expect(withThem({ 'kilo.c': '', Makefile: 'all:\n' })).not.toContain('!Makefile');
    expect(withThem({ 'kilo.c': '', Makefile: 'deploy:\n' })).toContain('!Makefile');
    expect(withThem({ 'src/a.c': '', 'configure.ac': '', 'Makefile.am': '' })).toContain('Makefile.am');
    expect(withThem({ 'a.go': '', 'go.mod': '', Makefile: '' })).toContain('!Makefile');
    const cmake = { 'src/a.c': '', 'CMakeLists.txt': '', 'NEWS.txt': '' };
    expect(withThem(cmake)).toContain('CMakeLists.txt');
    expect(withThem(cmake)).not.toContain('!/CMakeLists.txt');
  });

  it.each([
    'CMakeLists.txt NEWS.txt src/a.c',
    'CMakeLists.txt a.c',
    'Package.swift a.swift Sources/b.swift',
    'Shop.sln Shop.csproj Shop.cs',
    'mix.exs lib/a.ex x.exs',
    'build.zig main.zig src/a.zig',
    'project.clj a.clj src/b.clj',
    'Setup.hs a.cabal src/A.hs',
    'build.sbt project/plugins.sbt src/a.scala',
    'a.rockspec a.lua',
  ])('keep an agent from the build file in %s', (names) => {
    const build = names.split(' ')[0]!;
    expect([build, writePathReason(build, scope(names)) === null]).toEqual([build, false]);
  });

  it.runIf(isDeep)('are the same for a repository of any size', () => {
    const many = Array.from({ length: 20_000 }, (_, at) => `f${at}.py`).join(' ');
    expect(scope(`${many} src/a.py`)).toEqual(['docs/', 'src/', '*.md', '*.py', ...OTHER]);
    expect(scope(many)).toEqual(['.', '!.*', ...OTHER]);
  });

  it('omit what git ignores, and keep build output that git tracks', () => {
    const names = 'src/a.js generated/b.js out/c.js';
    expect(scope(names, { ignored: ['generated/'], tracked: ['out/'] }).slice(0, 3)).toEqual(['docs/', 'out/', 'src/']);
    expect(scope('a.py generated/b.py', { ignored: ['generated/'] })).toContain('!generated/');
  });

  it('exclude all test files if asked', () => {
    const folder = fc.constantFrom(
      ...'src lib t xt tests Shop.Tests unit-tests MyAppTests androidTest __snapshots__ testdata contest latest'.split(
        ' ',
      ),
    );
    const file = fc.constantFrom(
      ...'a.ts a.test.ts test.js test_a.py a_test.go run-test 01-load.t a.bats a.feature CartTests.cs TestCart.swift'.split(
        ' ',
      ),
      ...'CartTestCase.php CartSpec.hs contest.js latest.ts commit.java'.split(' '),
    );
    const write = [['.'], ['src/', 'test/', 'tests/', '*.js']].map(excludeTestFiles);
    fc.assert(
      fc.property(fc.array(folder, { maxLength: 2 }), file, (folders, name) => {
        const path = ['src', ...folders, name].join('/');
        for (const paths of write)
          expect([path, writePathReason(path, paths) === null]).toEqual([path, !isTestFile(path)]);
      }),
      { numRuns: 400 },
    );
  });

  it('are always accepted by the loader', () => {
    const name = fc.constantFrom(
      'src/a.ts',
      'a.go',
      'x!y/b.py',
      '[id]/c.js',
      'a b/c.c',
      'package.json',
      '(g)/x.ts',
      '{a/b.c',
      '!x/y.c',
      'a(b|c)/x.c',
      '@(a)/b.c',
    );
    fc.assert(
      fc.property(fc.uniqueArray(name), (names) => {
        const edit = proposeEditScope(memoryTree(Object.fromEntries(names.map((path) => [path, '']))));
        const text = renderProjectConfig({ edit, test: [], deploy: [], git: null });
        expect(parseProjectConfig(text)).toMatchObject({ ok: true, config: { scopes: { edit } } });
      }),
      { numRuns: depth(25, 100) },
    );
  });
});

describe('the proposed exceptions to the masks', () => {
  const shown = (files: { readonly [path: string]: string }) =>
    findFilesToUnmask(memoryTree(files), Object.keys(files));

  it('are files that git tracks and whose text shows no secret', () => {
    expect(
      shown({
        '.npmrc':
          '# no lock\n//npm.example/:_authToken=${NPM_TOKEN}\npackage-lock=false\n@a:registry=https://npm.example/\nhoist-pattern[]=x\r\n',
        'sig/a.key': '-----BEGIN PGP PUBLIC KEY BLOCK-----\n',
        'ca/root.pem': '-----BEGIN CERTIFICATE-----\n',
        'src/__tests__/env/.env.production': 'A=1\n',
        'src/a.ts': '',
      }),
    ).toEqual(['.npmrc', 'sig/a.key', 'ca/root.pem', 'src/__tests__/env/.env.production']);
    const proposed = { certain: [], possible: [], caches: [], shown: ['.npmrc', 'a/.npmrc'].map(unmaskPatternOf) };
    const text = renderProjectConfig({ edit: ['.'], test: [], deploy: [], git: null }, proposed);
    const mask = [...DEFAULT_MASKS, '!/.npmrc', '!a/.npmrc'];
    expect(parseProjectConfig(text)).toMatchObject({ ok: true, config: { mask } });
  });

  it.each([
    ['.npmrc', '//npm.example/:_authToken=${NPM_TOKEN}abc\n'],
    ['.npmrc', '//npm.example/:_authToken=abc\n'],
    ['.npmrc', 'a=1\n_auth = abc\n'],
    ['.npmrc', 'registry=https://me:pw@npm.example/\n'],
    ['.npmrc', 'some text\n'],
    ['a.pem', '-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n'],
    ['a.key', 'abc'],
    ['.env', 'A=1\n'],
    ['test*/__tests__/.env', 'A=1\n'],
  ])('do not contain %s with %j', (path, text) => expect(shown({ [path]: text })).toEqual([]));
});

describe('the proposed hopgate.yaml', () => {
  it('is valid for any names in the repository', async () => {
    const text = fc.string({ unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 4 }),
        text,
        fc.stringMatching(/^[a-z][a-z0-9-]*$/),
        async (run, because, name) => {
          const found = {
            edit: ['src/', ...run],
            test: [{ run: ['t', ...run], report: 'none' as const, because }],
            deploy: [{ name, run: ['d', ...run], because }],
            git: { remote: 'origin', branch: because },
          };
          const read = parse(renderProjectConfig(found)) as { [key: string]: unknown };
          expect(read['scopes']).toEqual({ edit: found.edit });
          expect(read['test']).toEqual([{ run: found.test[0]!.run, report: 'none' }]);
          expect(read['deploy']).toEqual({ [name]: found.deploy[0]!.run });
          expect(read['git']).toEqual(found.git);
        },
      ),
      { numRuns: depth(3, 100) },
    );
  });

  it('has the quotes that prettier of the repository wants', () => {
    const wants = (files: { readonly [path: string]: string }) => prefersSingleQuotes(memoryTree(files));
    expect(wants({ '.prettierrc': 'singleQuote: true\n' })).toBe(true);
    expect(wants({ 'package.json': '{"prettier":{"singleQuote":true}}' })).toBe(true);
    expect(wants({ 'prettier.config.mjs': 'export default { singleQuote: true };' })).toBe(true);
    expect(wants({ '.prettierrc.json': '{"singleQuote":false}', 'package.json': '{}' })).toBe(false);
    const found = { edit: ['*.md'], test: [], deploy: [], git: null };
    expect(renderProjectConfig(found)).toContain('edit: ["*.md"]');
    expect(renderProjectConfig(found, undefined, { singleQuote: true })).toContain("edit: ['*.md']");
  });

  it.each([
    ['npm test', 'npm test -- {args}'],
    ['npm test -- --reporter tap', 'npm test -- --reporter tap {args}'],
    ['pnpm run test', 'pnpm run test {args}'],
    ['yarn test', 'yarn test {args}'],
    ['npm run test-all', 'npm run test-all'],
    ['cargo test', 'cargo test {args}'],
    ['mvn --offline --batch-mode test', 'mvn --offline --batch-mode test {args}'],
    ['./gradlew --offline test', './gradlew --offline test {args}'],
    ['bundle exec rake test', 'bundle exec rake test {args}'],
    ['bats --tap test', 'bats --tap test {args}'],
    ['make test', 'make test'],
  ])('lets an agent run a part of the tests if %s takes words', (line, expected) => {
    const test = [{ run: line.split(' '), report: 'none' as const, because: 'x' }];
    const text = renderProjectConfig({ edit: ['*.md'], test, deploy: [], git: null });
    expect((parseDocument(text).toJSON() as { test: { run: string[] }[] }).test[0]?.run.join(' ')).toBe(expected);
  });

  it.each([
    ['everything', 20],
    ['little', 0],
  ])('follows prettier and yamllint if a repository uses %s', (_, count) => {
    const many = Array.from({ length: count }, (_, at) => `folder ${at}/`);
    const found = {
      edit: [...many, 'yes', "it's/", '1.0'],
      test: many.map((place) => ({ run: ['sh', '-c', place, '{args}'], report: { junit: 'x.xml' }, because: place })),
      deploy: many.map((place, at) => ({ name: `d${at}`, run: many, because: `"${place.repeat(50)}"` })),
      git: { remote: 'origin', branch: 'main' },
    };
    const caches = many.map((place, at) => (at % 2 ? place : { read: `~/${place}` }));
    const text = renderProjectConfig(found, { certain: many, possible: many, caches, shown: many });
    expect(parseDocument(text).toString({ flowCollectionPadding: false })).toBe(text);
    expect(text).not.toMatch(/\[$/m); // prettier breaks such a list differently
    const lines = text.split('\n');
    expect(lines[0]).toBe('---');
    expect(lines.filter((line) => line.length > 80 || /\s$|^[^#]*\S #|^[^#"]*\{|: yes|- yes/.test(line))).toEqual([]);
    expect(text).not.toMatch(/\n\n\n|\n\n$/);
  });

  it.each([
    ['pom.xml', { 'pom.xml': '' }, 'mvn --offline --batch-mode test'],
    ['a Maven wrapper', { 'pom.xml': '', mvnw: '' }, './mvnw --offline --batch-mode test'],
    ['Gradle', { 'build.gradle.kts': '', gradlew: '' }, './gradlew --offline test'],
    ['rspec', { '.rspec': '', Gemfile: '' }, 'bundle exec rspec'],
    ['rake', { Rakefile: 'Rake::TestTask.new' }, 'rake test'],
    ['a quoted task', { Rakefile: 'task "test" do', 'gems.rb': '' }, 'bundle exec rake test'],
    ['a task of specs', { Rakefile: "desc 'Run specs'\ntask(:spec) do" }, 'rake spec'],
    ['PHPUnit', { 'phpunit.xml.dist': '' }, 'vendor/bin/phpunit --log-junit hopgate-junit.xml'],
    ['mix', { 'mix.exs': '' }, 'mix test'],
    ['sbt', { 'build.sbt': '' }, 'sbt test'],
    ['Leiningen', { 'project.clj': '' }, 'lein -o test'],
    ['Swift, before CMake', { 'Package.swift': '', 'CMakeLists.txt': 'enable_testing()' }, 'swift test'],
    ['.NET', { 'Shop.sln': '' }, 'dotnet test --no-restore'],
    ['Dart', { 'pubspec.yaml': '' }, 'dart test'],
    ['Zig', { 'build.zig': '' }, 'zig build test'],
    ['dune', { 'dune-project': '' }, 'dune test'],
    ['Stack, before Cabal', { 'stack.yaml': '', 'a.cabal': '' }, 'stack test'],
    ['Cabal', { 'a.cabal': '' }, 'cabal test all --offline'],
    ['busted', { '.busted': '' }, 'busted'],
    ['Perl', { 't/00-load.t': '' }, 'prove -lr t'],
    ['Deno', { 'deno.jsonc': '{ "tasks": { "lint": "x" } }' }, 'deno test --allow-all'],
    ['a Deno task', { 'deno.json': '{ "tasks": { "test": "deno test -A" } }' }, 'deno task test'],
    ['npm in a package for Deno', { 'deno.json': '{}', 'package.json': '{"scripts":{"test":"a"}}' }, 'npm test'],
    ['bats', { 'lib/a.sh': '', 'tests/a.bats': '' }, 'bats --tap tests'],
    ['a script', { 'tests/run.sh': '#!/usr/bin/env bash\n' }, 'bash tests/run.sh'],
    ['a POSIX script', { test_runner: '#! /bin/sh\n', 'test.sh': 'no shell named\n' }, 'sh test_runner'],
    ['a Makefile that runs a script', { Makefile: 'test:\n\t./test.sh\n', 'test.sh': '#!/bin/sh\n' }, 'make test'],
  ])('has the tests of %s', async (_name, files, run) => {
    expect((await tests(files as unknown as { [path: string]: string })).map((found) => found.run)).toEqual([run]);
  });

  it('builds with Meson, or with autotools and a generated or committed configure', async () => {
    const line = async (files: { readonly [path: string]: string }) => (await tests(files)).map(({ run }) => run);
    const meson = {
      'meson.build': "if ok\n  subdir('a')\nendif",
      'a/meson.build': "subdir('b/')",
      'a/b/meson.build': "test('t', e)",
    };
    expect(await line(meson)).toEqual([expect.stringContaining('meson test -C')]);
    const autotools = { 'configure.ac': '', 'Makefile.am': 'TESTS = a', Makefile: 'check:' };
    expect(await line(autotools)).toEqual([
      expect.stringMatching(/autoreconf --install && .\/configure && make check$/),
    ]);
    expect(await line({ ...autotools, configure: '' })).toEqual([expect.stringMatching(/cd \$b && .\/configure/)]);
    expect(await line({ ...autotools, 'meson.build': '# test()' })).toEqual(await line(autotools));
    expect(await line({ ...autotools, ...meson })).toEqual(await line(meson));
    const all = { ...autotools, ...meson, 'CMakeLists.txt': 'enable_testing()' };
    expect(await line(all)).toEqual([expect.stringContaining('ctest')]);
  });

  it('has CMake tests only if there are some', async () => {
    expect(await tests({ 'CMakeLists.txt': 'project(a)' })).toEqual([]);
    expect((await tests({ 'CMakeLists.txt': 'project(a)\nenable_testing()' }))[0]?.run).toContain('ctest --test-dir');
  });

  it('has only the commands that the operator’s machine can run', () => {
    const { home, path, shown } = machineWith(
      ['bin/go', 'bin/uv', 'bin/mytool', 'bin/private', 'shown/cargo'],
      ['go/pkg/mod'],
    );
    const tree = memoryTree({
      'go.mod': '',
      'go.sum': 'x v1 h1:y',
      'Cargo.toml': '',
      'Cargo.lock': 'source = "registry"',
      'uv.lock': '',
      Makefile: 'all:\n\t@-uv run x && mytool y\n\techo private\n',
    });
    expect(proposePrograms(tree, path, [shown])).toEqual({ certain: ['uv', 'go', 'mytool'], possible: ['private'] });
    expect(proposeCaches(tree, home)).toEqual(['~/.cache/go-build', { read: '~/go/pkg/mod' }]);
    expect(proposeCaches(memoryTree({ 'go.mod': '' }), home)).toEqual(['~/.cache/go-build']);
    expect(proposePrograms(memoryTree({}), path, [shown])).toEqual({ certain: [], possible: [] });
  });

  it('reads no cache of modules that the repository replaces', () => {
    const { home } = machineWith([], ['go/pkg/mod', '.cargo/registry']);
    const files = { 'go.sum': 'x', 'Cargo.lock': 'source = "registry"\n' };
    const read = (more: object) => proposeCaches(memoryTree({ ...files, ...more }), home);
    expect(read({})).toEqual([{ read: '~/go/pkg/mod' }, { read: '~/.cargo/registry' }]);
    const config = '[source.crates-io]\nreplace-with = "vendored-sources"\n';
    expect(read({ 'vendor/modules.txt': '# x', '.cargo/config.toml': config })).toEqual([]);
  });

  it('says what to fill in if nothing was found', () => {
    const empty = renderProjectConfig({ edit: [], test: [], deploy: [], git: null });
    expect(parse(empty)).toEqual({
      specs: 'default',
      web: { allow: [] },
      toolchains: [],
    });
    expect(empty).toContain('# test:\n#   - run: [npm, test]\n#     report: tap\n');
  });
});
