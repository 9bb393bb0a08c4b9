import { posix } from 'node:path';
import { compileGlob } from '../../base/glob.ts';
import { memoise } from '../../base/lazy.ts';
import { splitWords } from '../../base/text.ts';
import { INSTRUCTION_FILES } from '../../spec/policy/instruction-files.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import type { Finding } from './findings.ts';

/**
 * Programs that run certain files, and the names of these files: matched at any depth, ignoring letter case. Changing
 * such a file is ordinary work, so it is not refused; but a person must know of the change before the file runs.
 */
const RUNS: { readonly [why: string]: readonly string[] } = {
  'a package manager runs the commands in this file': splitWords(`
    package.json .pnpmfile.cjs binding.gyp .yarn/** composer.json deno.json deno.jsonc
    setup.py setup.cfg pyproject.toml Cargo.toml build.rs Gemfile gems.rb *.gemspec .cargo/**
    mix.exs Package.swift *.cabal Setup.hs *.opam *.rockspec pubspec.yaml
  `),
  'this file selects packages, and installed packages run code': splitWords(`
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb deno.lock
    Cargo.lock poetry.lock uv.lock Pipfile Pipfile.lock requirements*.txt Gemfile.lock gems.locked composer.lock
    go.mod go.sum mix.lock Package.resolved pubspec.lock deps.edn cpanfile packages.lock.json stack.yaml*
    cabal.project*
  `),
  'a build tool runs this file': splitWords(`
    Makefile GNUmakefile makefile *.mk CMakeLists.txt *.cmake meson.build configure configure.ac Rakefile justfile
    .justfile Taskfile.yml Taskfile.yaml noxfile.py tox.ini tasks.py build.gradle build.gradle.kts settings.gradle
    settings.gradle.kts gradlew gradlew.bat mvnw mvnw.cmd pom.xml build.xml BUILD BUILD.bazel WORKSPACE MODULE.bazel
    *.bzl SConstruct wscript flake.nix shell.nix default.nix Gruntfile.* gulpfile.* *.config.{js,cjs,mjs,ts,cts,mts}
    build.sbt project.clj *.csproj *.fsproj *.props *.targets build.zig dune dune-project Makefile.PL Build.PL dist.ini
    .*rc.{js,cjs,mjs,ts} conftest.py sitecustomize.py usercustomize.py *.pth
  `),
  'a CI server runs this file': splitWords(`
    .github/workflows/** .github/actions/** action.yml .gitlab-ci.yml .circleci/** Jenkinsfile azure-pipelines.yml
    .travis.yml bitbucket-pipelines.yml .buildkite/** .drone.yml .woodpecker/** .woodpecker.yml appveyor.yml .ci/**
  `),
  'this file tells how a container is built or started': splitWords(`
    Dockerfile Dockerfile.* *.Dockerfile Containerfile compose.yml compose.yaml docker-compose*.yml
    docker-compose*.yaml Vagrantfile Procfile
  `),
  'git may run programs that this file names': splitWords(`
    .gitattributes .lfsconfig .pre-commit-config.yaml lefthook.yml .lefthook.yml .githooks/** .lintstagedrc*
    .overcommit.yml
  `),
  'agents read this file as instructions': INSTRUCTION_FILES,
  'a tool manager or an editor obeys this file': splitWords(`
    .tool-versions .mise.toml mise.toml .nvmrc *.code-workspace .vimrc .dir-locals.el .editorconfig
  `),
  'a shell runs this file': splitWords('*.sh *.bash *.zsh *.fish *.command *.bat *.cmd *.ps1'),
};

/** The globs of the files that each program runs or obeys, compiled at the first call. */
const rules = memoise(() =>
  Object.entries(RUNS).map(([why, names]) => ({
    why,
    globs: names.map((name) => compileGlob(`**/${name.toLowerCase()}`)),
  })),
);

/**
 * Explains why a changed file may run outside the sandbox: its name, its permissions, or a deploy command that names
 * it. null for any other file: writing ordinary source code is the agent's task.
 * @param path root-relative
 */
export function executableFileFinding(
  path: string,
  file: { readonly executable: boolean; readonly deploy: ProjectConfig['deploy'] },
): Finding | null {
  const deploy = Object.entries(file.deploy).find(([, { run }]) => run.some((word) => posix.normalize(word) === path));
  const names = path.toLowerCase().split('/');
  const why = deploy
    ? `the deploy command "${deploy[0]}" names it`
    : (rules().find(({ globs }) => globs.some((matches) => matches(names)))?.why ??
      (file.executable ? 'it is executable' : null));
  return why === null ? null : { path, why };
}
