import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listFileNames, pathExists } from '../../base/files.ts';
import { installHint } from '../../base/install-hint.ts';
import { valueOr } from '../../base/value-or.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../spec/resolve/parse-project-config.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import { CliError } from '../io.ts';

/** A repository made for a scenario, and its bare remote. */
export interface FixtureRepository {
  /** Absolute real path of the work tree. */
  readonly root: string;
  readonly remote: string;
  readonly config: ProjectConfig;
}

const FILES: { readonly [fixture: string]: { readonly [path: string]: string } } = {
  'bug-in-median': {
    'package.json': `${JSON.stringify({ name: 'statistics', version: '1.0.0', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
    'README.md': '# statistics\n\n`mean` and `median` of a list of numbers.\n',
    'src/mean.js': 'export const mean = (numbers) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;\n',
    'src/median.js': `/** The middle of a list of numbers; of an even count, the mean of the two in the middle. */
export function median(numbers) {
  const sorted = numbers.toSorted();
  return sorted[Math.floor(sorted.length / 2)];
}
`,
    'test/mean.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mean } from '../src/mean.js';

test('the mean of three numbers', () => assert.equal(mean([1, 2, 6]), 3));
`,
    'test/median.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from '../src/median.js';

test('the median of an odd count', () => assert.equal(median([3, 1, 2]), 2));
test('numbers are sorted as numbers', () => assert.equal(median([10, 9, 1]), 9));
test('the median of an even count', () => assert.equal(median([4, 1, 3, 2]), 2.5));
`,
    '.env': 'API_TOKEN=not-for-agents\n',
    '.gitignore': '.env\nnode_modules/\n',
  },
};

/** Makes a fixture repository in a temporary folder: one commit, pushed to a bare remote. */
export function makeFixtureRepository(name: string): FixtureRepository {
  const files = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (!files) {
    throw new CliError(
      'no-fixture',
      `there is no fixture "${name}"`,
      `Fixtures: ${Object.keys(FILES).join(', ')}; or name a repository with --root DIR.`,
    );
  }
  removeOldFixtures();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-')));
  const root = join(folder, 'repository');
  const remote = join(folder, 'remote.git');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', remote);
  git(root, 'init', '--quiet', '--initial-branch=main');
  git(root, 'config', 'user.name', 'Fixture');
  git(root, 'config', 'user.email', 'fixture@example.com');
  git(root, 'remote', 'add', 'origin', remote);
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message', 'Add mean and median');
  git(root, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  return { root, remote, config: fixtureConfig() };
}

/** Time for which a fixture is kept after its run, so that a person can look at it: one day, in milliseconds. */
const KEPT_MS = 86_400_000;

/** Removes this user's fixtures of earlier runs. Skips folders that it may not examine, such as another user's. */
function removeOldFixtures(): void {
  const folders = listFileNames(tmpdir()).filter((name) => /^hopgate-\w{6}$/.test(name));
  for (const folder of folders.map((name) => join(tmpdir(), name)))
    valueOr(() => isOldFixture(folder) && rmSync(folder, { recursive: true, force: true }), false);
}

function isOldFixture(folder: string): boolean {
  const { uid, mtimeMs } = lstatSync(folder);
  const isOld = uid === process.getuid?.() && Date.now() - mtimeMs > KEPT_MS;
  return isOld && ['repository', 'remote.git'].every((part) => pathExists(join(folder, part)));
}

/** The configuration of the fixture, like a `hopgate.yaml`. Its toolchain is the folder of the running Node. */
function fixtureConfig(): ProjectConfig {
  const toolchain = dirname(dirname(realpathSync(process.execPath)));
  return {
    ...DEFAULT_PROJECT_CONFIG,
    scopes: { edit: ['src/', 'test/'] },
    test: [{ run: ['node', '--test', '--test-reporter=tap'], report: 'tap' }],
    git: { remote: 'origin', branch: 'main' },
    toolchains: toolchain.startsWith('/usr') ? [] : [toolchain],
  };
}

function git(cwd: string, ...args: string[]): void {
  try {
    execFileSync('git', args, {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    });
  } catch (cause) {
    throw new CliError(
      'git-failed',
      `git ${args[0]} failed: ${(cause as Error).message}`,
      `Install git ${installHint('git')} and try again; "hopgate doctor" says what is missing.`,
      { cause },
    );
  }
}
