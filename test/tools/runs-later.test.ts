import { describe, expect, it } from 'vitest';
import { runsLater } from '../../src/tools/runs-later.ts';

const PLAIN = { executable: false, deploy: {} };

/** Files that people know by these names, and what takes them for a program. */
const FILES: { readonly [why: string]: string } = {
  'a package manager runs what it says':
    'package.json .pnpmfile.cjs binding.gyp .yarn/releases/yarn.cjs composer.json deno.json deno.jsonc setup.py setup.cfg pyproject.toml Cargo.toml build.rs Gemfile x.gemspec .cargo/config.toml',
  'it decides what is installed, and what is installed runs':
    'package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb deno.lock Cargo.lock poetry.lock uv.lock Pipfile Pipfile.lock requirements.txt requirements-dev.txt Gemfile.lock composer.lock go.mod go.sum',
  'a build tool runs it':
    'Makefile GNUmakefile makefile rules.mk CMakeLists.txt find.cmake meson.build configure configure.ac Rakefile justfile .justfile Taskfile.yml Taskfile.yaml noxfile.py tox.ini tasks.py build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradlew gradlew.bat mvnw mvnw.cmd pom.xml build.xml BUILD BUILD.bazel WORKSPACE MODULE.bazel x.bzl SConstruct wscript flake.nix shell.nix default.nix Gruntfile.js gulpfile.mjs vite.config.ts jest.config.cjs x.config.js x.config.mjs x.config.cts x.config.mts .eslintrc.js .babelrc.cjs .xrc.mjs .xrc.ts conftest.py sitecustomize.py usercustomize.py x.pth',
  'a CI server runs it':
    '.github/workflows/ci.yml .github/actions/a/action.yml action.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .travis.yml bitbucket-pipelines.yml .buildkite/pipeline.yml .drone.yml .woodpecker/a.yml .woodpecker.yml appveyor.yml .ci/run',
  'a container is built or started by it':
    'Dockerfile Dockerfile.dev web.Dockerfile Containerfile compose.yml compose.yaml docker-compose.yml docker-compose.dev.yaml Vagrantfile Procfile',
  'git may run programs by it':
    '.gitattributes .lfsconfig .pre-commit-config.yaml lefthook.yml .lefthook.yml .githooks/pre-commit .lintstagedrc.json .overcommit.yml',
  'agents take it for instructions':
    'CLAUDE.md AGENTS.md GEMINI.md .github/copilot-instructions.md .github/instructions/a.md .github/prompts/a.md SKILL.md',
  'a tool manager or an editor obeys it':
    '.tool-versions .mise.toml mise.toml .nvmrc x.code-workspace .vimrc .dir-locals.el .editorconfig',
  'a shell runs it': 'x.sh x.bash x.zsh x.fish x.command x.bat x.cmd x.ps1',
};

const rows = Object.entries(FILES).flatMap(([why, names]) => names.split(' ').map((name) => [name, why] as const));

describe('what runs later', () => {
  it.each(rows)('%s: %s', (name, why) => {
    expect(runsLater(name, PLAIN)).toEqual({ path: name, why });
    expect(runsLater(`a/.b/${name}`, PLAIN)?.why).toBe(why);
    expect(runsLater(name.toUpperCase(), PLAIN)?.why).toBe(why);
  });

  it('is not ordinary source code, nor a name that only looks alike', () => {
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
    for (const name of names) expect(runsLater(name, PLAIN)).toBeNull();
  });

  it('is what may be executed', () =>
    expect(runsLater('bin/a', { ...PLAIN, executable: true })).toEqual({ path: 'bin/a', why: 'it is executable' }));

  it('is what a deploy command names, whatever else it is', () => {
    const deploy = { site: { run: ['node', './scripts/../tools/ship.js'] } } as never;
    expect(runsLater('tools/ship.js', { executable: true, deploy })).toEqual({
      path: 'tools/ship.js',
      why: 'the deploy command "site" names it',
    });
    expect(runsLater('tools/other.js', { executable: false, deploy })).toBeNull();
  });
});
