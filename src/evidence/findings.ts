import { posix } from 'node:path';
import { compileGlob, type Glob } from '../base/glob.ts';
import { fieldsOf, parseJson } from '../base/json.ts';
import { plural, shorten } from '../base/text.ts';
import { INSTRUCTION_FILES } from '../spec/policy/instruction-files.ts';
import { isTestFile } from '../spec/test-files.ts';
import type { Json, ProjectConfig } from '../spec/types.ts';
import { bodyOf, type EffectRecord } from './bodies.ts';
import type { Entry } from './entry.ts';

/** Something that a person must know about a changed file before it ships, and that no rule forbids. */
export interface Finding {
  /** Root-relative; a test command for findings about its runs. */
  readonly path: string;
  readonly why: string;
}

/**
 * Programs that run certain files, and the names of these files: matched at any depth, ignoring letter case. Changing
 * such a file is ordinary work, so it is not refused; but a person must know of the change before the file runs.
 */
const RUNS: readonly (readonly [why: string, names: readonly string[]])[] = [
  [
    'a package manager runs its commands',
    ['package.json', '.pnpmfile.cjs', 'binding.gyp', '.yarn/**', 'composer.json', 'deno.json', 'deno.jsonc'],
  ],
  [
    'a package manager runs its commands',
    [
      'setup.py',
      'setup.cfg',
      'pyproject.toml',
      'Cargo.toml',
      'build.rs',
      'Gemfile',
      'gems.rb',
      '*.gemspec',
      '.cargo/**',
    ],
  ],
  [
    'it selects packages, and installed packages run code',
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
        'gems.locked',
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
  ['agents read it as instructions', INSTRUCTION_FILES],
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

let compiled: readonly { readonly why: string; readonly globs: readonly Glob[] }[] | undefined;

/** Compiled when the first file is checked. */
function rules() {
  compiled ??= RUNS.map(([why, names]) => ({
    why,
    globs: names.map((name) => compileGlob(`**/${name.toLowerCase()}`)),
  }));
  return compiled;
}

/**
 * Explains why a file that an agent wrote will run outside the sandbox: its name, its permissions, or a deploy command
 * that names it; null if nothing shows this. Ordinary source code also runs later, but is not reported, because writing
 * it is the agent's task.
 * @param path root-relative
 */
export function runsLater(
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

const TESTS = /\b(?:it|test)(?:\.\w+)*\s*\(|\bdef test_\w*|\bfunc Test\w*|#\[(?:\w+::)*test\]|@Test\b|\bscenario\s*\(/g;
const SKIPPED =
  /\.(?:skip|only|todo|skipIf|fails)\b|\bx(?:it|describe|test)\s*\(|\bf(?:it|describe)\s*\(|\bskip\s*:\s*true|@(?:pytest\.mark\.|unittest\.)(?:skip|xfail|expectedFailure)|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore)\b/g;

/** Larger files are not read. */
const MAX_TEXT = 8 << 20;

/** A summary of a file's tests from a quick scan; null if the file does not concern tests. */
export interface TestSignals {
  readonly tests: number;
  readonly skipped: number;
  readonly scripts: { readonly [name: string]: string };
}

export function testSignals(path: string, text: string | null): TestSignals | null {
  if (text === null || text.length > MAX_TEXT) return null;
  if (/(?:^|\/)package\.json$/i.test(path)) return { tests: 0, skipped: 0, scripts: testScripts(text) };
  if (!isTestFile(path)) return null;
  return { tests: text.match(TESTS)?.length ?? 0, skipped: text.match(SKIPPED)?.length ?? 0, scripts: {} };
}

function testScripts(text: string): TestSignals['scripts'] {
  const all = Object.entries(fieldsOf(fieldsOf(parseJson(text))['scripts']));
  return Object.fromEntries(
    all.filter((pair): pair is [string, string] => /test/i.test(pair[0]) && typeof pair[1] === 'string'),
  );
}

/**
 * Explains how a change weakens the tests; null if a quick scan finds nothing. `after` is null if the file was deleted.
 */
export function weakenedTests(before: TestSignals | null, after: TestSignals | null): string | null {
  if (before === null)
    return after !== null && after.skipped > 0
      ? `it skips or singles out tests in ${plural(after.skipped, 'place')}`
      : null;
  if (after === null) return before.tests > 0 ? `it was deleted, with ${plural(before.tests, 'test')}` : null;
  const changed = Object.entries(before.scripts).find(([name, run]) => after.scripts[name] !== run);
  if (changed)
    return `its script "${changed[0]}" was changed from "${shorten(changed[1], 100)}" to "${shorten(after.scripts[changed[0]] ?? '', 100)}"`;
  if (after.tests < before.tests) return `it holds ${plural(before.tests - after.tests, 'test')} fewer than before`;
  return after.skipped > before.skipped
    ? `it skips or singles out tests in ${plural(after.skipped - before.skipped, 'more place')}`
    : null;
}

/** Explains that fewer tests passed in a full run than in earlier ones (`fewerTests` of a result); null if not. */
export function fewerTestsIn(run: { readonly [key: string]: Json }): string | null {
  const { before, now } = fieldsOf(run['fewerTests']);
  return typeof before === 'number' && typeof now === 'number'
    ? `${plural(before - now, 'fewer test')} passed than before (${now} of ${before})`
    : null;
}

export const findingsIn = (effects: readonly EffectRecord[]): readonly Finding[] =>
  effects.flatMap(({ path, finding: why }) => (why === undefined ? [] : [{ path, why }]));

/** Findings by path or test command. */
export interface FindingsByPath {
  [path: string]: string;
}

/** Adds a step's findings, and removes outdated ones. A forged body may lack effects and must not throw. */
export function countFindings(
  found: FindingsByPath,
  effects: readonly EffectRecord[] | 'unobserved' | undefined,
  result: Json | undefined,
): void {
  for (const { path, op, finding } of effects === 'unobserved' ? [] : (effects ?? [])) {
    if (finding !== undefined) found[path] = finding;
    // A file that is gone runs nowhere. Of others a finding stays: the change that it was about may still be there.
    else if (op === 'delete') delete found[path];
  }
  for (const run of wholePassesIn(result)) {
    const command = (run['command'] as Json[]).join(' ');
    const why = fewerTestsIn(run);
    if (why !== null) found[command] = why;
    else delete found[command];
  }
}

export class SessionFindings {
  readonly #found: FindingsByPath = Object.create(null);

  add({ body }: Pick<Entry, 'body'>): void {
    const known = bodyOf(body);
    if (known?.event === 'outcome' || known?.event === 'step')
      countFindings(this.#found, known.effects, known.outcome?.status === 'ok' ? known.outcome.result : undefined);
  }

  list(): readonly Finding[] {
    return Object.entries(this.#found).map(([path, why]) => ({ path, why }));
  }
}

/** Full runs of test commands that passed. */
function wholePassesIn(result: Json | undefined): { readonly [key: string]: Json }[] {
  const { runs, verdict, command, narrowed } = fieldsOf(result);
  if (Array.isArray(runs)) return runs.flatMap(wholePassesIn);
  return verdict === 'pass' && narrowed !== true && Array.isArray(command) ? [fieldsOf(result)] : [];
}
