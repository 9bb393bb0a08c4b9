import { posix } from 'node:path';
import { compileGlobAlternatives, expandGlob } from '../../base/glob.ts';
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
    package.json .pnpmfile.cjs binding.gyp .yarn/** composer.json deno.json deno.jsonc setup.py setup.cfg
    pyproject.toml Cargo.toml build.rs Gemfile gems.rb *.gemspec .cargo/** mix.exs Package.swift *.cabal Setup.hs
    *.opam *.rockspec pubspec.yaml bunfig.toml Podfile *.podspec rebar.config conanfile.* .pnp.* .bundle/**
  `),
  'this file selects packages, and installed packages run code': splitWords(`
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb deno.lock
    Cargo.lock poetry.lock uv.lock Pipfile Pipfile.lock requirements*.txt Gemfile.lock gems.locked composer.lock
    go.mod go.sum mix.lock Package.resolved pubspec.lock deps.edn cpanfile packages.lock.json stack.yaml*
    cabal.project* cpanfile.snapshot Brewfile Podfile.lock pdm.lock pixi.{toml,lock} environment.y*ml elm.json
    global.json nuget.config flake.lock vcpkg.json gradle/wrapper/** .mvn/** *.gemfile bower.json build.zig.zon
  `),
  'a build tool runs this file': splitWords(`
    Makefile GNUmakefile makefile *.mk CMakeLists.txt *.cmake meson.build configure configure.ac Rakefile justfile
    .justfile Taskfile*.y*ml noxfile.py tox.ini {tasks,dodo,fabfile}.py *.gradle{.kts,} gradle.properties gradlew
    gradlew.bat mvnw mvnw.cmd pom.xml build.xml BUILD WORKSPACE *.bazel *.bzl .bazelrc BUCK SConstruct SConscript
    wscript waf flake.nix shell.nix default.nix Gruntfile.* gulpfile.* Jakefile* Cakefile
    *.{config,conf,workspace}.{js,cjs,mjs,ts,cts,mts} {babel,jest}.config.json *.sbt project.clj *.csproj *.fsproj
    *.props *.targets build.zig dune dune-project Makefile.PL Build.PL dist.ini .*rc.{js,cjs,mjs,ts}
    .{babel,eslint,stylelint,prettier,mocha,nyc,swc}rc{.*,} {nx,turbo,lerna,project,angular}.json *.rake Guardfile
    Fastfile Snakefile Earthfile Tiltfile {xmake,premake5}.lua CMake{User,}Presets.json .rspec .busted config/*.exs
    magefile.go pytest.ini phpunit.xml{.dist,} .sbtopts .jvmopts conftest.py sitecustomize.py usercustomize.py *.pth
  `),
  'a CI server runs this file': splitWords(`
    {.github,.forgejo,.gitea}/{workflows,actions}/** action.y*ml .gitlab-ci*.yml .gitlab/ci/** .circleci/**
    Jenkinsfile* azure-pipelines*.y*ml .cirrus.y*ml .semaphore/** .builds/** .teamcity/** cloudbuild.y*ml
    buildspec.y*ml bitrise.yml codemagic.yaml wercker.yml Dangerfile dangerfile.* .goreleaser.y*ml .travis.yml
    bitbucket-pipelines.yml .buildkite/** .drone.yml .woodpecker/** .woodpecker.yml appveyor.yml .ci/**
  `),
  'this file says how a container is built or started': splitWords(`
    {Docker,Container}file{.*,} *.{Docker,Container}file {docker-,}compose*.y*ml docker-bake.hcl Vagrantfile
    Procfile*
  `),
  'a deployment tool runs this file': splitWords(`
    *.tf *.tf.json *.hcl Pulumi*.y*ml serverless.* wrangler.{toml,json,jsonc} vercel.json netlify.toml fly.toml
    ansible.cfg playbook*.y*ml Capfile skaffold.y*ml helmfile.y*ml kustomization.y*ml Chart.yaml
  `),
  'git may run programs that this file names': splitWords(`
    .gitattributes .lfsconfig .pre-commit-{config,hooks}.yaml {.,}lefthook{-local,}.y*ml .githooks/** .lintstagedrc*
    .overcommit.yml
  `),
  'agents read this file as instructions': INSTRUCTION_FILES,
  'a tool manager or an editor reads settings or commands from this file': splitWords(`
    .tool-versions .mise.toml mise.toml .nvmrc .{node,python,ruby,java,go}-version .sdkmanrc rust-toolchain{.toml,}
    *.code-workspace *.sublime-project .project .classpath .vimrc .vimspector.json .luarc.json{c,}
    {.,}rust-analyzer.toml .dir-locals.el .editorconfig
  `),
  'a shell runs this file': splitWords('*.sh *.bash *.zsh *.fish *.command *.bat *.cmd *.ps1'),
};

const compile = (globs: readonly string[]) => compileGlobAlternatives(globs.flatMap(expandGlob));

/** The files that each program runs or obeys, by name and by path; compiled at the first call. */
const rules = memoise(() =>
  Object.entries(RUNS).map(([why, all]) => {
    const globs = all.map((glob) => glob.toLowerCase());
    return {
      why,
      name: compile(globs.filter((glob) => !glob.includes('/'))),
      path: compile(globs.filter((glob) => glob.includes('/')).map((glob) => `**/${glob}`)),
    };
  }),
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
    ? `the deploy command "${deploy[0]}" names this file`
    : (rules().find(({ name, path: inPath }) => name(names.slice(-1)) || inPath(names))?.why ??
      (file.executable ? 'it is executable' : null));
  return why === null ? null : { path, why };
}
