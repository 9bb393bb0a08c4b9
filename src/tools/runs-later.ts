import { posix } from 'node:path';
import { picomatchLater } from '../gate/picomatch-later.ts';
import { INSTRUCTION_FILES } from '../spec/policy/instruction-files.ts';
import type { ProjectConfig } from '../spec/types.ts';

/** A file that an agent may change, and that runs outside the sandbox once somebody works with the repository. */
export interface Finding {
  readonly path: string;
  readonly why: string;
}

/**
 * What takes files for programs, and by which names: matched at any depth, letter case aside. None of these is refused, because changing them is
 * ordinary work; but nobody should learn of it only by running them.
 */
const RUNS: readonly (readonly [why: string, names: readonly string[]])[] = [
  [
    'a package manager runs what it says',
    ['package.json', '.pnpmfile.cjs', 'binding.gyp', '.yarn/**', 'composer.json', 'deno.json', 'deno.jsonc'],
  ],
  [
    'a package manager runs what it says',
    ['setup.py', 'setup.cfg', 'pyproject.toml', 'Cargo.toml', 'build.rs', 'Gemfile', '*.gemspec', '.cargo/**'],
  ],
  [
    'it decides what is installed, and what is installed runs',
    [
      ...[
        'package-lock.json',
        'npm-shrinkwrap.json',
        'yarn.lock',
        'pnpm-lock.yaml',
        'pnpm-workspace.yaml',
        'bun.lock',
        'bun.lockb',
        'deno.lock',
      ],
      ...[
        'Cargo.lock',
        'poetry.lock',
        'uv.lock',
        'Pipfile',
        'Pipfile.lock',
        'requirements*.txt',
        'Gemfile.lock',
        'composer.lock',
        'go.mod',
        'go.sum',
      ],
    ],
  ],
  [
    'a build tool runs it',
    [
      ...[
        'Makefile',
        'GNUmakefile',
        'makefile',
        '*.mk',
        'CMakeLists.txt',
        '*.cmake',
        'meson.build',
        'configure',
        'configure.ac',
        'Rakefile',
      ],
      ...[
        'justfile',
        '.justfile',
        'Taskfile.yml',
        'Taskfile.yaml',
        'noxfile.py',
        'tox.ini',
        'tasks.py',
        'build.gradle',
        'build.gradle.kts',
      ],
      ...[
        'settings.gradle',
        'settings.gradle.kts',
        'gradlew',
        'gradlew.bat',
        'mvnw',
        'mvnw.cmd',
        'pom.xml',
        'build.xml',
        'BUILD',
        'BUILD.bazel',
        'WORKSPACE',
        'MODULE.bazel',
        '*.bzl',
        'SConstruct',
        'wscript',
        'flake.nix',
        'shell.nix',
        'default.nix',
      ],
      ...[
        'Gruntfile.*',
        'gulpfile.*',
        '*.config.{js,cjs,mjs,ts,cts,mts}',
        '.*rc.{js,cjs,mjs,ts}',
        'conftest.py',
        'sitecustomize.py',
        'usercustomize.py',
        '*.pth',
      ],
    ],
  ],
  [
    'a CI server runs it',
    [
      '.github/workflows/**',
      '.github/actions/**',
      'action.yml',
      '.gitlab-ci.yml',
      '.circleci/**',
      'Jenkinsfile',
      'azure-pipelines.yml',
      '.travis.yml',
      'bitbucket-pipelines.yml',
      '.buildkite/**',
      '.drone.yml',
      '.woodpecker/**',
      '.woodpecker.yml',
      'appveyor.yml',
      '.ci/**',
    ],
  ],
  [
    'a container is built or started by it',
    [
      'Dockerfile',
      'Dockerfile.*',
      '*.Dockerfile',
      'Containerfile',
      'compose.yml',
      'compose.yaml',
      'docker-compose*.yml',
      'docker-compose*.yaml',
      'Vagrantfile',
      'Procfile',
    ],
  ],
  [
    'git may run programs by it',
    [
      '.gitattributes',
      '.lfsconfig',
      '.pre-commit-config.yaml',
      'lefthook.yml',
      '.lefthook.yml',
      '.githooks/**',
      '.lintstagedrc*',
      '.overcommit.yml',
    ],
  ],
  ['agents take it for instructions', INSTRUCTION_FILES],
  [
    'a tool manager or an editor obeys it',
    [
      '.tool-versions',
      '.mise.toml',
      'mise.toml',
      '.nvmrc',
      '*.code-workspace',
      '.vimrc',
      '.dir-locals.el',
      '.editorconfig',
    ],
  ],
  ['a shell runs it', ['*.sh', '*.bash', '*.zsh', '*.fish', '*.command', '*.bat', '*.cmd', '*.ps1']],
];

let compiled: readonly { readonly why: string; readonly matches: (path: string) => boolean }[] | undefined;

/** Compiled for the first file that is asked about. */
function rules() {
  const picomatch = picomatchLater();
  compiled ??= RUNS.map(([why, names]) => ({
    why,
    matches: picomatch(
      names.map((name) => `**/${name}`),
      { dot: true, nocase: true, nonegate: true },
    ),
  }));
  return compiled;
}

/**
 * Why a file that an agent wrote will run outside the sandbox: by its name, its permissions, or the deploy command that names it; null if nothing
 * says so. Ordinary source code runs later, too; it is not reported, because it is what an agent is there to write.
 * @param path root-relative
 */
export function runsLater(
  path: string,
  file: { readonly executable: boolean; readonly deploy: ProjectConfig['deploy'] },
): Finding | null {
  const deploy = Object.entries(file.deploy).find(([, { run }]) => run.some((word) => posix.normalize(word) === path));
  const why = deploy
    ? `the deploy command "${deploy[0]}" names it`
    : (rules().find(({ matches }) => matches(path))?.why ?? (file.executable ? 'it is executable' : null));
  return why === null ? null : { path, why };
}
