import type { DetectedDeploy, DetectedTest } from './detected-commands.ts';
import { proposeEditScope, type RootFoldersByGit } from './edit-scope.ts';
import { detectMakefileDeploys, detectMakefileTest } from './makefile.ts';
import {
  detectCargoTest,
  detectDenoTest,
  detectGoTests,
  detectOtherTests,
  detectPytest,
  detectTestScript,
  detectUnittest,
} from './other-tests.ts';
import { detectPackageDeploys, detectPackageTest } from './package-json.ts';
import type { ProjectFileReader } from './project-file-reader.ts';
import { detectWorkspaceTests } from './workspace-tests.ts';

/** The edit scope, tests and deploys that a repository's files suggest. */
export interface DetectedProject {
  readonly edit: readonly string[];
  readonly test: readonly DetectedTest[];
  readonly deploy: readonly DetectedDeploy[];
  readonly git: { readonly remote: string; readonly branch: string } | null;
}

/**
 * Detects a project from its files and from git; runs none of the repository's programs. If no other tests are found,
 * the test target of a Makefile counts; without one, a test script counts. With other tests, both are left out, because
 * they would run the same tests again.
 */
export async function detectProject(tree: ProjectFileReader, git: AskGit): Promise<DetectedProject> {
  const script = detectPackageTest(tree);
  const others = [
    detectCargoTest(tree),
    ...detectGoTests(tree),
    detectPytest(tree),
    detectUnittest(tree),
    ...detectOtherTests(tree),
  ].filter((found) => found !== null);
  const tests =
    script === null
      ? [...detectWorkspaceTests(tree), ...[detectDenoTest(tree) ?? []].flat(), ...others]
      : [script, ...others.filter(({ run }) => !isRunBy(script.because, run))];
  const fallback = detectMakefileTest(tree) ?? detectTestScript(tree);
  return {
    edit: proposeEditScope(tree, await gitFolders(tree, git)),
    test: tests.length > 0 || fallback === null ? tests : [fallback],
    deploy: detectDeployCommands(tree),
    git: await detectGitConfig(git),
  };
}

/** True if a script names the test runner of a command, so that the command would run the same tests again. */
const isRunBy = (script: string, run: readonly string[]): boolean =>
  run.some(
    (word) =>
      /^(?:.*\/)?(?:pytest|bats|cargo|go|phpunit|rspec|rake|mvnw?|gradlew?|mix|prove|busted|swift|dotnet|dart|zig|dune)$/.test(
        word,
      ) && new RegExp(`\\b${word.replace(/^.*\//, '')}\\b`).test(script),
  );

async function gitFolders(tree: ProjectFileReader, git: AskGit): Promise<RootFoldersByGit> {
  const folders = tree.list('').filter((name) => name.endsWith('/'));
  const lines = async (args: readonly string[]) => ((await git(args)) ?? '').split('\n').filter((line) => line !== '');
  const ignored = folders.length === 0 ? [] : await lines(['check-ignore', '--', ...folders.slice(0, MAX_FOLDERS)]);
  const tracked = await lines(['ls-tree', '-d', '--name-only', 'HEAD']);
  return { ignored: new Set(ignored), tracked: new Set(tracked.map((name) => `${name}/`)) };
}

/** Maximum number of folders in a command line. */
const MAX_FOLDERS = 1000;

/** Asks git; null if git fails. */
type AskGit = (args: readonly string[]) => Promise<string | null>;

/** The remote (`origin`, or the only one) and the branch to push: its HEAD, or the checked-out branch. */
export async function detectGitConfig(
  git: AskGit,
): Promise<{ readonly remote: string; readonly branch: string } | null> {
  const remotes = ((await git(['remote'])) ?? '').split('\n').filter((line) => line !== '');
  const remote = remotes.includes('origin') ? 'origin' : remotes.length === 1 ? remotes[0]! : null;
  if (remote === null) return null;
  const head = await git(['symbolic-ref', '--quiet', '--short', `refs/remotes/${remote}/HEAD`]);
  const branch =
    head?.trim().slice(remote.length + 1) || (await git(['symbolic-ref', '--quiet', '--short', 'HEAD']))?.trim();
  return branch ? { remote, branch } : null;
}

const SCRIPTS = ['deploy.sh', 'bin/deploy', 'scripts/deploy.sh', 'script/deploy'];

/**
 * All deploy commands. If two have the same name, package.json has priority over the Makefile, and the Makefile over a
 * script.
 */
export function detectDeployCommands(tree: ProjectFileReader): readonly DetectedDeploy[] {
  const scripts = SCRIPTS.filter((path) => tree.read(path) !== null).map((path) => ({
    name: 'deploy',
    run: [`./${path}`],
    because: path,
  }));
  const all = [...detectPackageDeploys(tree), ...detectMakefileDeploys(tree), ...scripts];
  return all.filter((found, i) => all.findIndex(({ name }) => name === found.name) === i);
}
