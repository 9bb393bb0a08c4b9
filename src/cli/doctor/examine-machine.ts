import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { lstatIfAny, readTextOrEmpty } from '../../base/files.ts';
import { installHint } from '../../base/install-hint.ts';
import { findProgram } from '../../base/process.ts';
import { plural, toShellWord } from '../../base/text.ts';
import { openProject } from '../../project/open-project.ts';
import { CONFIG_FILE } from '../../project/repository-root.ts';
import { ensureStateDir } from '../../project/state-dir.ts';
import { SpecError } from '../../spec/check/spec-problem.ts';
import { COMMAND_TOOLS } from '../../spec/policy/command-tools.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import { commitPersonsOf } from '../../tools/git/git-persons.ts';
import { findRepository } from '../../tools/git/repository.ts';
import { sandboxOfProcess } from '../../tools/sandbox/detect-sandbox.ts';
import type { SandboxAvailability } from '../../tools/sandbox/sandbox.ts';
import { describeMissingPackages } from '../../tools/shell/missing-packages.ts';
import { isStop } from '../../tools/workspace/tool-stop.ts';
import type { Io } from '../io.ts';
import { remedyOf } from '../report-error.ts';
import { askGit, type RunProgram, runProgram } from '../run-program.ts';
import { diagnoseCaches } from './diagnose-caches.ts';
import { diagnoseClaude } from './diagnose-claude.ts';
import { diagnoseCodex } from './diagnose-codex.ts';
import { diagnoseEvidence, diagnoseRunJournal } from './diagnose-databases.ts';
import { diagnosePrograms } from './diagnose-programs.ts';
import type { Diagnosis } from './diagnosis.ts';

/** The environment that {@link examineMachine} checks; tests remove parts of it. */
export interface DoctorEnvironment {
  readonly run: RunProgram;
  readonly sandbox: () => Promise<SandboxAvailability>;
  /** The free space for this user on the disk of a folder, in bytes. */
  readonly free: (folder: string) => number;
}

const THIS_MACHINE: DoctorEnvironment = {
  run: runProgram,
  sandbox: async () => (await sandboxOfProcess()).availability,
  free: (folder) => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  },
};

/** Minimum free space in bytes: a store with few entries and its journal need about as much. */
const MIN_FREE_BYTES = 4 << 20;

/** Runs all checks of `hopgate doctor`, and tries the sandbox. Creates the state folder and changes nothing else. */
export async function examineMachine(
  root: string,
  io: Io,
  { run, sandbox, free }: DoctorEnvironment = THIS_MACHINE,
): Promise<readonly Diagnosis[]> {
  return [
    { name: 'Node', status: 'ok', found: `${process.versions.node} (${process.execPath})` },
    ...(await Promise.all([diagnoseGit(io, run), diagnoseBubblewrap(sandbox), diagnoseRipgrep(run)])),
    diagnoseStateFolder(root, io, free),
    ...diagnoseEvidence(root, io),
    ...diagnoseRunJournal(io),
    ...(await diagnoseProject(root, io, run)),
    ...(await diagnoseClaude(root, io, run)),
    ...(await diagnoseCodex(root, io)),
  ];
}

export async function diagnoseGit(io: Io, run: RunProgram): Promise<Diagnosis> {
  const path = findProgram('git', io.env['PATH']);
  const version = path === null ? null : await run(path, ['--version']);
  if (version !== null) return { name: 'git', status: 'ok', found: `${numberIn(version)} (${path})` };
  return {
    name: 'git',
    status: 'missing',
    found: path === null ? 'no git on the PATH' : `${path} does not run`,
    without: 'Everything but bash-git works; "hopgate init" finds no remote.',
    fix: `Install git ${installHint('git')}.`,
  };
}

/** The names of the command tools that need overlays, or of the command tools that do not, separated by commas. */
const commandTools = (needsOverlay: boolean): string =>
  Object.keys(COMMAND_TOOLS)
    .filter((id) => COMMAND_TOOLS[id]!.needsOverlay === needsOverlay)
    .join(', ');

async function diagnoseBubblewrap(sandbox: DoctorEnvironment['sandbox']): Promise<Diagnosis> {
  const name = 'bubblewrap';
  const found = await sandbox();
  if (!found.ok)
    return {
      name,
      status: 'missing',
      found: found.reason,
      without: `${Object.keys(COMMAND_TOOLS).join(', ')} answer sandbox-unavailable; all other tools work.`,
      fix: `To have them: ${found.remedy}.`,
    };
  const limits = Object.entries(found.limits).map(([limit, how]) => `${limit}: ${how}`);
  if (!found.overlay)
    return {
      name,
      status: 'missing',
      found: `${found.version}, which sandboxes commands, but has no overlays here`,
      without: `${commandTools(true)} answer sandbox-unavailable; ${commandTools(false)} work.`,
      fix: 'Use Linux 5.11 or newer, where user namespaces may mount overlays.',
    };
  return { name, status: 'ok', found: `${found.version}; sandboxes commands (tried)`, details: limits };
}

const numberIn = (text: string): string => /(?<!\d)\d+(?:\.\d+)+/.exec(text)?.[0] ?? text.trim();

async function diagnoseRipgrep(run: RunProgram): Promise<Diagnosis> {
  const version = await run(rgPath, ['--version']);
  return version === null
    ? {
        name: 'ripgrep',
        status: 'missing',
        found: `${rgPath} does not run`,
        without: 'Everything but grep works.',
        fix: 'Install hopgate again: ripgrep comes with it, in the optional packages of @vscode/ripgrep.',
      }
    : { name: 'ripgrep', status: 'ok', found: `${numberIn(version)} (comes with hopgate)` };
}

function diagnoseStateFolder(root: string, io: Io, free: DoctorEnvironment['free']): Diagnosis {
  try {
    const dir = ensureStateDir(root, io.env);
    const freeBytes = free(dir);
    if (freeBytes < MIN_FREE_BYTES)
      return {
        name: 'state folder',
        status: 'broken',
        found: `${dir}: its disk has only ${Math.floor(freeBytes / 1024)} KiB left`,
        without: 'No session can start or continue, because its evidence cannot be stored.',
        fix: 'Free some space, or set XDG_STATE_HOME to a folder on another disk.',
      };
    rmSync(mkdtempSync(join(dir, 'probe-')), { recursive: true });
    return { name: 'state folder', status: 'ok', found: dir };
  } catch (error) {
    return {
      name: 'state folder',
      status: 'broken',
      found: (error as Error).message,
      without: 'No session can start, because its evidence cannot be stored.',
      fix: remedyOf(error) ?? 'Set XDG_STATE_HOME to a folder that you can write.',
    };
  }
}

/** Reports a repository that git cannot use in the sandbox. A folder without a repository is not reported. */
export function diagnoseRepository(root: string): readonly Diagnosis[] {
  if (!lstatIfAny(join(root, '.git'))) return [];
  const name = 'repository';
  const without = 'bash-git and git in commands fail, and nothing can be deployed.';
  const repository = findRepository(root);
  if (isStop(repository))
    return [{ name, status: 'broken', found: 'git cannot use it here', without, fix: repository.stop.message }];
  const alternates = join(repository.commonDir, 'objects', 'info', 'alternates');
  const borrowed = readTextOrEmpty(alternates).trim();
  if (borrowed === '') return [];
  const fix = `Run "git repack -ad" in ${root}, and delete ${alternates}.`;
  return [{ name, status: 'broken', found: `borrows objects of ${borrowed}, which no command sees`, without, fix }];
}

/** Reports a configured remote that the repository does not have, and a missing name for commits. */
export async function diagnoseRemote(root: string, io: Io, config: ProjectConfig): Promise<readonly Diagnosis[]> {
  const { git: pushes, commits } = config;
  if (pushes === null || pushes.url !== undefined) return [];
  const url = await askGit(root, ['remote', 'get-url', pushes.remote], io.env['PATH']);
  if (url !== null)
    return [
      { name: 'git remote', status: 'ok', found: `${pushes.remote} (branch ${[pushes.branch].flat().join(', ')})` },
      ...(commits?.author === undefined ? diagnoseAuthor(root, io) : []),
    ];
  // If git itself is missing, its own diagnosis says so.
  if ((await askGit(root, ['--version'], io.env['PATH'])) === null) return [];
  return [
    {
      name: 'git remote',
      status: 'missing',
      found: `the repository has no remote "${pushes.remote}"`,
      without: 'Everything but git push works.',
      fix: `Add it (git remote add ${pushes.remote} URL), or correct git in hopgate.yaml.`,
    },
  ];
}

function diagnoseAuthor(root: string, io: Io): readonly Diagnosis[] {
  const repository = findRepository(root);
  if (isStop(repository) || commitPersonsOf(repository, io.env) !== null) return [];
  return [
    {
      name: 'git author',
      status: 'missing',
      found: 'git knows no name and address for commits',
      without: 'Everything but git commit works.',
      fix: 'Run `git config --global user.name "NAME"` and `git config --global user.email ADDRESS`.',
    },
  ];
}

async function diagnoseProject(root: string, io: Io, run: RunProgram): Promise<readonly Diagnosis[]> {
  try {
    const {
      root: real,
      config: settings,
      configFile,
      trusted,
      ignored,
      specs,
      specsFolder,
    } = await openProject(root, io.env);
    const count = Object.keys(specs.peripherals).length;
    return [
      diagnoseConfig(configFile, trusted, ignored),
      { name: 'specs', status: 'ok', found: `${plural(count, 'peripheral')} (${specsFolder})` },
      ...diagnosePackages(real),
      ...(await diagnosePrograms(real, settings, io, run)),
      ...diagnoseCaches(real, settings, io),
      ...diagnoseRepository(real),
      ...(await diagnoseRemote(real, io, settings)),
    ];
  } catch (error) {
    const found = error instanceof SpecError ? `${plural(error.issues.length, 'problem')}` : (error as Error).message;
    return [
      {
        name: 'specs',
        status: 'broken',
        found,
        without: 'No session can start.',
        fix:
          error instanceof SpecError
            ? `Run "hopgate check --root ${toShellWord(root)}", and correct the problems that it lists.`
            : (remedyOf(error) ?? ''),
      },
    ];
  }
}

/** Reports packages of the repository's manifests that were never installed. */
function diagnosePackages(root: string): readonly Diagnosis[] {
  const found = describeMissingPackages(root);
  if (found === null) return [];
  const without = 'The test commands may find no program or package; reading and editing work.';
  return [{ name: 'packages', status: 'missing', found, without, fix: 'Install them as this repository says.' }];
}

function diagnoseConfig(file: string | null, trusted: boolean, ignored: readonly string[]): Diagnosis {
  const name = CONFIG_FILE;
  if (file === null)
    return {
      name,
      status: 'missing',
      found: 'none',
      without: 'Editing and reading work by the default specs; nothing can be tested, deployed or pushed.',
      fix: 'Run "hopgate init".',
    };
  if (trusted) return { name, status: 'ok', found: `trusted (${file})` };
  return {
    name,
    status: 'missing',
    found: `not trusted (${file})`,
    without:
      ignored.length === 0
        ? 'Its masks and scopes apply.'
        : `It can only restrict the specs; left out: ${ignored.join(', ')}.`,
    fix: 'Read it, then run "hopgate trust".',
  };
}
