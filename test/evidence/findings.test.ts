import { describe, expect, it } from 'vitest';
import { executableFileFinding } from '../../src/evidence/findings/executable-files.ts';
import { SessionFindings } from '../../src/evidence/findings/findings.ts';
import { describeWeakenedTests, scanTestFile } from '../../src/evidence/findings/weakened-tests.ts';
import { isTestFile } from '../../src/spec/test-files.ts';

const PLAIN = { executable: false, deploy: {} };

/** Well-known names of files, and the program that runs each. */
const FILES: { readonly [why: string]: string } = {
  'a package manager runs the commands in this file':
    'package.json .pnpmfile.cjs binding.gyp .yarn/releases/yarn.cjs composer.json deno.json deno.jsonc setup.py setup.cfg pyproject.toml Cargo.toml build.rs Gemfile gems.rb x.gemspec .cargo/config.toml bunfig.toml Podfile rebar.config conanfile.py .pnp.cjs .bundle/config',
  'this file selects packages, and installed packages run code':
    'package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb deno.lock Cargo.lock poetry.lock uv.lock Pipfile Pipfile.lock requirements.txt requirements-dev.txt Gemfile.lock gems.locked composer.lock go.mod go.sum Brewfile pixi.toml environment.yml environment.yaml nuget.config gradle/wrapper/gradle-wrapper.properties .mvn/extensions.xml gemfiles/a.gemfile',
  'a build tool runs this file':
    'Makefile GNUmakefile makefile rules.mk CMakeLists.txt find.cmake meson.build configure configure.ac Rakefile justfile .justfile Taskfile.yml Taskfile.yaml noxfile.py tox.ini tasks.py build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradlew gradlew.bat mvnw mvnw.cmd pom.xml build.xml BUILD BUILD.bazel WORKSPACE MODULE.bazel x.bzl SConstruct wscript flake.nix shell.nix default.nix Gruntfile.js gulpfile.mjs vite.config.ts jest.config.cjs x.config.js x.config.mjs x.config.cts x.config.mts .eslintrc.js .babelrc.cjs .xrc.mjs .xrc.ts conftest.py sitecustomize.py usercustomize.py x.pth x.gradle gradle.properties Taskfile.dist.yml dodo.py WORKSPACE.bazel .bazelrc karma.conf.js vitest.workspace.ts .babelrc .eslintrc.json nx.json lib/tasks/a.rake Fastfile Snakefile xmake.lua CMakePresets.json .rspec config/runtime.exs project/plugins.sbt pytest.ini',
  'a CI server runs this file':
    '.github/workflows/ci.yml .github/actions/a/action.yml action.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .travis.yml bitbucket-pipelines.yml .buildkite/pipeline.yml .drone.yml .woodpecker/a.yml .woodpecker.yml appveyor.yml .ci/run .forgejo/workflows/a.yml .gitlab-ci-build.yml .cirrus.yml cloudbuild.yaml Dangerfile dangerfile.ts .goreleaser.yaml',
  'this file says how a container is built or started':
    'Dockerfile Dockerfile.dev web.Dockerfile Containerfile compose.yml compose.yaml docker-compose.yml docker-compose.dev.yaml compose.override.yml Containerfile.dev docker-bake.hcl Vagrantfile Procfile Procfile.dev',
  'a deployment tool runs this file':
    'main.tf terragrunt.hcl Pulumi.yaml serverless.yml wrangler.toml ansible.cfg playbook.yml Capfile skaffold.yaml Chart.yaml',
  'git may run programs that this file names':
    '.gitattributes .lfsconfig .pre-commit-config.yaml lefthook.yml .lefthook.yml lefthook-local.yaml .pre-commit-hooks.yaml .githooks/pre-commit .lintstagedrc.json .overcommit.yml',
  'agents read this file as instructions':
    'CLAUDE.md AGENTS.md GEMINI.md .github/copilot-instructions.md .github/instructions/a.md .github/prompts/a.md SKILL.md',
  'a tool manager or an editor reads settings or commands from this file':
    '.tool-versions .mise.toml mise.toml .nvmrc x.code-workspace .vimrc .dir-locals.el .editorconfig .python-version rust-toolchain.toml rust-analyzer.toml x.sublime-project .luarc.json',
  'a shell runs this file': 'x.sh x.bash x.zsh x.fish x.command x.bat x.cmd x.ps1',
};

const rows = Object.entries(FILES).flatMap(([why, names]) => names.split(' ').map((name) => [name, why] as const));

describe('a file that runs later', () => {
  it.each(rows)('has the name %s: %s', (name, why) => {
    expect(executableFileFinding(name, PLAIN)).toEqual({ path: name, why });
    expect(executableFileFinding(`a/.b/${name}`, PLAIN)?.why).toBe(why);
    expect(executableFileFinding(name.toUpperCase(), PLAIN)?.why).toBe(why);
  });

  it('is not ordinary source code, nor a file with a similar name', () => {
    const names = [
      'src/a.ts',
      'README.md',
      'my-package.json',
      'package.json/a',
      'x.sh.txt',
      '.github/a.md',
      'sh',
      '!x.sh.md',
    ];
    for (const name of names) expect(executableFileFinding(name, PLAIN)).toBeNull();
  });

  it('may be any executable file', () =>
    expect(executableFileFinding('bin/a', { ...PLAIN, executable: true })).toEqual({
      path: 'bin/a',
      why: 'it is executable',
    }));

  it('may be any file that a deploy command names', () => {
    const deploy = { site: { run: ['node', './scripts/../tools/ship.js'] } } as never;
    expect(executableFileFinding('tools/ship.js', { executable: true, deploy })).toEqual({
      path: 'tools/ship.js',
      why: 'the deploy command "site" names this file',
    });
    expect(executableFileFinding('tools/other.js', { executable: false, deploy })).toBeNull();
  });
});

describe('weakened tests', () => {
  const weakened = (path: string, before: string | null, after: string | null) =>
    describeWeakenedTests(scanTestFile(path, before), scanTestFile(path, after));
  const script = (test: string) => JSON.stringify({ scripts: { test, build: 'x' } });

  it.each([
    [
      'packages/a/package.json',
      script('vitest run'),
      script('true'),
      'the script "test" was changed from "vitest run" to "true"',
    ],
    ['package.json', script('vitest'), '{}', 'the script "test" was changed from "vitest" to ""'],
    ['test/a.test.ts', "it('a', x);\nit('b', x);", "it('a', x);", 'the file contains 1 test fewer than before'],
    ['test/a.test.ts', "it('a', x);", null, 'the file was deleted, with 1 test'],
    ['src/a.spec.js', "it('a', x);", "it.skip('a', x);", 'the file skips or singles out tests in 1 more place'],
    [
      'src/a.spec.js',
      "it('a', x);it('b', x);",
      "it.only('a', x);it('b', x);",
      'the file skips or singles out tests in 1 more place',
    ],
    [
      'tests/test_a.py',
      'def test_a(): ...',
      '@pytest.mark.skip\ndef test_a(): ...',
      'the file skips or singles out tests in 1 more place',
    ],
    [
      'a_test.go',
      'func TestA(t *testing.T) {}',
      'func TestA(t *testing.T) { t.Skip() }',
      'the file skips or singles out tests in 1 more place',
    ],
    [
      'a_test.go',
      'func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}',
      '',
      'the file contains 2 tests fewer than before',
    ],
    [
      'tests/a.rs',
      '#[test]\nfn a() {}',
      '#[test]\n#[ignore]\nfn a() {}',
      'the file skips or singles out tests in 1 more place',
    ],
    [
      'src/test/java/ATest.java',
      '@Test void a() {}',
      '@Disabled @Test void a() {}',
      'the file skips or singles out tests in 1 more place',
    ],
    ...[
      ['src/lib.rs', '#[cfg(test)]\nmod tests {\n#[tokio::test(flavor = "x")]\nasync fn a() {} }'],
      ['src/a.zig', 'test "adds" {\n}'],
      ['spec/a_spec.rb', "it 'adds' do\nend"],
      ['test/a_test.exs', '  test "adds", %{a: a} do\n  end'],
      ['test/a_test.rb', 'def test_adds\nend'],
      ['ShopTests/A.swift', 'func testAdds() {}'],
      ['tests/ATest.php', 'public function testAdds(): void {}'],
      ['src/androidTest/A.kt', '@Test fun adds() {}'],
      ['test/a.bats', '@test "adds" {\n}'],
      ['Shop.Tests/A.cs', '[Fact]\npublic void Adds() {}'],
      ['tests/a.cc', 'TEST_F(Cart, Adds) {}'],
      ['test/ASpec.hs', '  it "adds" $ do'],
      ['features/a.feature', '  Scenario: it adds'],
      ['t/a.t', "is( $sum, 3, 'adds' );"],
    ].map(([path, text]): [string, string | null, string | null, string] => [
      path!,
      text!,
      '',
      'the file contains 1 test fewer than before',
    ]),
    ...[
      ['spec/a_spec.rb', "xit 'adds' do\nend"],
      ['spec/a_spec.rb', "it 'adds' do\n  skip 'later'\nend"],
      ['test/a_test.exs', '@tag :skip\ntest "adds" do\n  end'],
      ['tests/ATest.php', 'function testAdds() { $this->markTestSkipped(); }'],
      ['Shop.Tests/A.cs', '[Fact(Skip = "later")]\npublic void Adds() {}'],
      ['tests/a.cc', 'TEST(Cart, DISABLED_Adds) {}'],
      ['src/lib.rs', '#[test]\n#[ignore = "later"]\nfn adds() {}'],
      ['src/a.zig', 'test "adds" {\n  return error.SkipZigTest;\n}'],
      ['test/a.bats', '@test "adds" {\n  skip\n}'],
      ['ShopTests/A.swift', 'func testAdds() throws { throw XCTSkip("later") }'],
      ['t/a.t', "SKIP: {\nis( $sum, 3, 'adds' );\n}"],
      ['tests/test_a.py', 'def test_adds():\n    pytest.skip("later")'],
      ['tests/test_a.py', '@unittest.skipIf(True, "later")\ndef test_adds(self): ...'],
      ['tests/test_a.py', 'pytestmark = pytest.mark.skip'],
      ['src/test/java/ATest.java', '@Test @DisabledOnOs(LINUX) void adds() {}'],
      ['src/test/java/ATest.java', '@Test void adds() { assumeTrue(false); }'],
    ].map(([path, text]): [string, string | null, string | null, string] => [
      path!,
      null,
      text!,
      'the file skips or singles out tests in 1 place',
    ]),
  ])('are found in %s', (path, before, after, why) => expect(weakened(path, before, after)).toBe(why));

  it.each([
    ['package.json', script('vitest'), script('vitest').replace('"x"', '"y"')],
    ['test/a.test.ts', "it('a', x);", "it('a', y);\nit('b', x);"],
    ['test/a.test.ts', null, "it('a', x);"],
    ['src/lib.rs', 'fn a() {}', 'fn a() { b.iter().skip(1).for_each(test); }'],
    ['test/a.test.ts', "it('a', () => {\nok(b);\n})", "it('a', () => {})"],
    ['tests/a.rs', '#[test]\nfn a() { test(b); }', '#[test]\nfn a() { b.iter().skip(1); }'],
    ['src/a.ts', "it('a', x);", ''],
    ['package.json', 'no JSON', '{'],
    ['tests/test_a.py', 'def test_a(): ...', "def test_a():\n    Cart.objects.only('id')"],
    ['src/test/java/ATest.java', '@Test void a() {}', '@Test void a() { carts.stream().skip(1); }'],
    ['src/db.py', 'def test_connection(): ...', ''],
    ['test/fixture.bin', '', null],
  ])('are not found in a harmless change: %s', (path, before, after) =>
    expect(weakened(path, before, after)).toBeNull(),
  );

  it('can be in every file that a common test framework runs or compares', () => {
    const all = `test/a.ts a/__tests__/b.js a.test.ts a_test.go test_a.py ATest.java AIT.java spec/a_spec.rb t/00-load.t
      xt/a.pl Shop.Tests/Cart.cs CartTests.cs ShopTests/A.swift UITests/A.swift src/androidTest/a/B.kt src/commonTest/A.kt
      a/__snapshots__/b.snap test/a.bats features/cart.feature a/testdata/b.json test/ASpec.hs CartTest.php ATestCase.php`;
    expect(all.split(/\s+/).filter((path) => !isTestFile(path))).toEqual([]);
  });
  it('cannot be in a file whose name only resembles one of a test', () => {
    const all = `src/a.ts latest.ts latest/a.ts src/contest.py contests/a.py docs/testing.md docs/writing-tests.md bats.spec
      Commit.java Latest.java requirements-test.txt ORM.t.ts features/cart.ts i18n/t.json`;
    expect(all.split(/\s+/).filter(isTestFile)).toEqual([]);
  });
});

describe('the findings of a session', () => {
  const entry = (effects: object[], result: object = {}) => ({
    body: { event: 'outcome', tool: 'x', outcome: { status: 'ok', result }, effects } as never,
  });
  const run = (more: object) => entry([], { verdict: 'pass', command: ['npm', 'test'], report: { total: 9 }, ...more });
  const fewer = { fewerTests: { before: 12, now: 9 } };

  it('are about its changes, until the file is deleted', () => {
    const findings = new SessionFindings();
    findings.add(entry([{ path: 'a.sh', op: 'create', finding: 'a shell runs this file' }]));
    findings.add(entry([{ path: 'Makefile', op: 'modify', finding: 'a build tool runs this file' }]));
    findings.add(entry([{ path: 'a.sh', op: 'delete' }]));
    expect(findings.list()).toEqual([{ path: 'Makefile', why: 'a build tool runs this file' }]);
  });

  it('say that fewer tests passed, until as many pass again', () => {
    const findings = new SessionFindings();
    const seen = (more: object) => {
      findings.add(run(more));
      return findings.list();
    };
    const drop = [{ path: 'npm test', why: '3 fewer tests passed than before (9 of 12)' }];
    expect(seen({})).toEqual([]);
    expect(seen({ runs: [{ verdict: 'pass', command: ['npm', 'test'], ...fewer }] })).toEqual(drop);
    expect(seen({ narrowed: true })).toEqual(drop);
    expect(seen({ verdict: 'fail' })).toEqual(drop);
    expect(seen({})).toEqual([]);
    expect(seen(fewer)).toEqual(drop);
  });
});
