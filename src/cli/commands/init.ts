import { realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { confirm, isCancel } from '@clack/prompts';
import { writeAtomically, writeNewFile } from '../../base/files.ts';
import { escapeInvisible, excerpt, shorten } from '../../base/text.ts';
import { writePathReason } from '../../gate/scope/write-paths.ts';
import { openProject } from '../../project/open-project.ts';
import { CONFIG_FILE, findConfiguredFolder, gitRootOf, realRepositoryRoot } from '../../project/repository-root.ts';
import { trustCurrentConfig } from '../../project/trust.ts';
import { isExcludingPattern } from '../../spec/path-patterns.ts';
import { isBareRepository } from '../../tools/git/repository.ts';
import { findCommandPrograms } from '../../tools/shell/shell-context.ts';
import type { CliCommand } from '../cli-command.ts';
import { type DetectedProject, detectProject } from '../detect/detect-project.ts';
import { addManifestsToScope, excludeTestFiles, isTestOnlyPath, listManifests } from '../detect/edit-scope.ts';
import { findFilesToUnmask, unmaskPatternOf } from '../detect/files-to-unmask.ts';
import { prefersSingleQuotes } from '../detect/prefers-single-quotes.ts';
import { createProjectFileReader } from '../detect/project-file-reader.ts';
import { proposeCaches, proposePrograms } from '../detect/proposed-programs.ts';
import { type ProposedConfigParts, renderProjectConfig } from '../detect/render-config.ts';
import { diagnosePrograms } from '../doctor/diagnose-programs.ts';
import { diagnoseTests } from '../doctor/diagnose-tests.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { CliError, type Io, paintDiff, print, printJson, printResult } from '../io.ts';
import { diffLines } from '../line-diff.ts';
import { withProgressLine } from '../run/watch-call.ts';
import { askGit, runProgram } from '../run-program.ts';
import { type RootOption, rootOption } from '../shared-options.ts';

interface Options extends RootOption {
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly tests: boolean;
  /** True to run the test commands, false not to; if undefined, the person is asked at a terminal. */
  readonly runTests?: boolean;
  readonly manifests?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      `Writes ${CONFIG_FILE} from the files of the repository: how it is tested (package.json, Cargo.toml, go.mod, pytest, pom.xml, Makefile, …), how it is shipped, which folders an agent may edit, and where git pushes. Trusts the file that it wrote. Asks the programs of the commands for their versions, outside and inside the sandbox; runs code of the repository outside the sandbox only with --run-tests or after a yes at a terminal.`,
    )
    .addOption(rootOption())
    .option('--force', 'replace an existing file')
    .option('--no-tests', 'do not let an agent change tests')
    .option('--run-tests', 'run each test command outside and in the sandbox, and compare the results')
    .option('--no-run-tests', 'do not ask whether to run the test commands')
    .option('--manifests', 'let an agent change manifests and lock files, such as package.json; asks if not given')
    .option('--no-manifests', 'do not let an agent change manifests and lock files')
    .option('--dry-run', 'show the changes and write nothing')
    .examples('hopgate init', 'hopgate init --dry-run --root ../shop')
    .action((options: Options) => init(io, options));
}

async function init(io: Io, options: Options): Promise<void> {
  const here = realRepositoryRoot(options.root, io.cwd);
  const root = options.root === '.' ? (findConfiguredFolder(here) ?? gitRootOf(here) ?? here) : here;
  if (isBareRepository(root))
    throw new CliError('bare-repository', `${root} is a bare repository`, 'Run this in a clone or a work tree of it.');
  const isAbove = root !== here;
  const tree = createProjectFileReader(root);
  const project = await detectProject(tree, (args) => askGit(root, args, io.env['PATH']));
  const tracked = ((await askGit(root, ['ls-files', '-z'], io.env['PATH'])) ?? '').split('\0').filter(Boolean);
  const tested = options.tests ? project.edit : excludeTestFiles(project.edit);
  const manifests = listManifests(tree);
  const mayChangeManifests =
    manifests.length > 0 &&
    (options.manifests ?? (options.dryRun !== true && (await askYes(io, aboutManifests(manifests)))));
  const found = { ...project, edit: mayChangeManifests ? addManifestsToScope(tested, tree) : tested };
  const deploy = Object.fromEntries(found.deploy.map(({ name, run }) => [name, { run, network: false }]));
  const { mounts, path } = findCommandPrograms(
    root,
    { mask: [], toolchains: [], test: found.test, deploy },
    { ...io.env },
  );
  const proposed = {
    ...proposePrograms(tree, path.join(delimiter), [root, ...mounts.map(({ target }) => target)]),
    caches: proposeCaches(tree, io.env['HOME']),
    shown: findFilesToUnmask(tree, tracked).map(unmaskPatternOf),
  };
  const text = renderProjectConfig(found, proposed, { singleQuote: prefersSingleQuotes(tree) });
  const before = tree.read(CONFIG_FILE);
  const diff = diffLines(before ?? '', text);
  const changed = diff.some((line) => !line.startsWith(' '));
  const file = join(root, CONFIG_FILE);

  if (options.dryRun) {
    const text = changed ? diff.map((line) => paintDiff(io, line)).join('\n') : `${file} would not change.`;
    return printResult(io, { file, changed, written: false, trusted: false, diff, found }, text);
  }
  if (before !== null && changed && !options.force)
    throw new CliError(
      'config-exists',
      `${file} exists already`,
      'See what would change with "hopgate init --dry-run"; replace it with "hopgate init --force".',
    );
  // A full disk must leave no part of the file. A file or link that appeared in the meantime stays.
  if (changed && before !== null) writeAtomically(realpathSync(file), text, statSync(file).mode & 0o777);
  if (before === null && !writeNewFile(file, text, 0o666))
    throw new CliError('config-exists', `${file} was made by another program meanwhile`, 'Run this again.');
  await trustCurrentConfig(root, io.env);
  const { config } = await openProject(root, io.env);
  const diagnoses = await withProgressLine(io, 'asking the programs for their versions', () =>
    diagnosePrograms(root, config, io, runProgram),
  );
  const programs = diagnoses.filter(({ status }) => status !== 'ok');
  const isCompared = config.test.length > 0 && (options.runTests ?? (await askYes(io, ABOUT_TESTS)));
  const compared = isCompared
    ? await withProgressLine(io, 'comparing the test commands', () => diagnoseTests(root, config, io))
    : [];
  io.exitCode = compared.every(({ status }) => status === 'ok') ? 0 : 1;
  if (io.json)
    printJson(io, {
      file,
      changed,
      written: changed,
      trusted: true,
      found,
      programs,
      ...(isCompared ? { compared } : {}),
    });
  else
    print(
      io,
      [
        ...(isAbove ? [`The repository of this folder is ${root}; hopgate works there.`] : []),
        changed ? `Wrote ${file} and trusted it.` : `${file} is up to date; trusted it.`,
        ...summary(
          found,
          [...programs, ...compared],
          proposed,
          testPaths(tracked.length > 0 ? tracked : tree.list('')),
          mayChangeManifests ? [] : manifests,
        ),
        ...(gitRootOf(root) === null ? [] : [`Commit ${CONFIG_FILE}, so that each clone and work tree has it.`]),
      ].join('\n'),
    );
}

/** The shortest list of paths that covers all test files: a folder that contains only tests replaces its files. */
function testPaths(paths: readonly string[]): readonly string[] {
  const shortest = paths.flatMap((path) => {
    const names = path.split('/');
    const starts = names.map((_, at) => names.slice(0, at + 1).join('/') + (at < names.length - 1 ? '/' : ''));
    return starts.find(isTestOnlyPath) ?? [];
  });
  const all = [...new Set(shortest)];
  return [...all.filter((path) => path.endsWith('/')), ...all.filter((path) => !path.endsWith('/'))];
}

/** Asks a person at a terminal. Returns false if there is no terminal. */
async function askYes(io: Io, message: string): Promise<boolean> {
  if (!io.isTty || io.json) return false;
  const answer = await confirm({ message, initialValue: false, input: io.stdin, output: io.stdout });
  if (isCancel(answer)) throw new CliError('cancelled', 'init was cancelled', 'Run the command again.');
  return answer;
}

const aboutManifests = (manifests: readonly string[]): string =>
  `May agents change the dependencies and build files (${excerpt(manifests.join(', '), 200)})?`;
const ABOUT_TESTS = 'Run the test commands once outside and once in the sandbox, to compare the results?';

function summary(
  { edit, test, deploy, git }: DetectedProject,
  programs: readonly Diagnosis[],
  { certain, possible, caches, shown }: ProposedConfigParts,
  testFiles: readonly string[],
  closed: readonly string[],
): readonly string[] {
  const textOr = (text: string, otherwise: string): string => (text === '' ? otherwise : text);
  const commands = (all: readonly { readonly run: readonly string[] }[]): string =>
    all.map(({ run }) => run.join(' ')).join('; ');
  const granted = edit.filter((path) => !isExcludingPattern(path));
  const excluded = edit.filter(isExcludingPattern).map((path) => path.slice(1));
  const tests = testFiles.filter((path) => writePathReason(path.replace(/\/$/, ''), edit) === null);
  return [
    `  edit    ${granted.join(' ')}`,
    ...(excluded.length > 0 ? [`          but not ${excluded.join(' ')}`] : []),
    ...(tests.length > 0
      ? [
          `          an agent may change tests (${shorten(tests.join(' '), 60)}); "hopgate init --no-tests" keeps them out`,
        ]
      : []),
    ...(closed.length > 0
      ? [
          `          no agent may change ${shorten(closed.map(escapeInvisible).join(' '), 60)}; "hopgate init --manifests" allows it`,
        ]
      : []),
    `  test    ${textOr(commands(test), 'nothing found; fill in "test" before the test peripheral can run anything')}`,
    `  deploy  ${textOr(commands(deploy), 'nothing found')}`,
    `  git     ${git === null ? 'no remote found; deploy cannot push' : `${git.remote} ${git.branch}`}`,
    ...programs.map(({ name, found, fix }) => `  ${name}: ${found}.${fix ? ` ${fix}` : ''}`),
    ...(certain.length > 0 ? [`  programs  ${certain.join(' ')}, which the sandbox shows to every command`] : []),
    ...(caches.length > 0
      ? [`  cache   ${caches.map((each) => (typeof each === 'string' ? each : `${each.read} (read-only)`)).join(' ')}`]
      : []),
    ...(shown.length > 0
      ? [
          `  mask    not ${shorten(shown.map((each) => each.replace(/^!\/?/, '')).join(' '), 60)}: tracked by git, no secret seen`,
        ]
      : []),
    ...(possible.length > 0
      ? [`  scripts may start ${possible.join(', ')}, which the sandbox lacks; if so, add them to "programs:"`]
      : []),
    'Next: read the file. If you change it, run "hopgate trust". Then run "hopgate doctor".',
  ];
}
