import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { SpecError } from '../spec/issues.ts';
import { findProgram } from './find-program.ts';
import type { Io } from './io.ts';
import { CONFIG_FILE, openProject } from './project.ts';
import { runProgram, type RunProgram } from './run-program.ts';
import { ensureStateDir } from './state-dir.ts';

/** One thing that hopgate needs or can use. `missing` stops something that `without` names; `broken` stops everything. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'broken';
  /** Version and place, or what is wrong. */
  readonly found: string;
  /** What works without it, or what does not. */
  readonly without?: string;
  /** How to get it. */
  readonly fix?: string;
}

const PROGRAMS = [
  {
    name: 'git',
    program: 'git',
    args: ['--version'],
    without: 'Everything but bash-git works; "init" finds no remote.',
    fix: 'Install git (Debian: apt-get install git).',
  },
  {
    name: 'bubblewrap',
    program: 'bwrap',
    args: ['--version'],
    without:
      'read, glob, grep, edit, write and web-fetch work; bash, bash-readonly, bash-test, bash-git and bash-deploy answer sandbox-unavailable.',
    fix: 'Install bubblewrap (Debian: apt-get install bubblewrap). It needs Linux.',
  },
] as const;

/** Looks at everything once. Changes nothing but the state folder, which it makes. */
export async function examine(root: string, io: Io, run: RunProgram = runProgram): Promise<readonly Finding[]> {
  const programs = PROGRAMS.map(async ({ name, program, args, without, fix }): Promise<Finding> => {
    const path = findProgram(program, io.env['PATH']);
    const version = path === null ? null : await run(path, args);
    return version === null
      ? {
          name,
          status: 'missing',
          found: path === null ? `no ${program} on the PATH` : `${path} does not run`,
          without,
          fix,
        }
      : { name, status: 'ok', found: `${numberIn(version)} (${path})` };
  });
  return [
    { name: 'Node', status: 'ok', found: `${process.versions.node} (${process.execPath})` },
    ...(await Promise.all(programs)),
    await ripgrep(run),
    stateFolder(root, io),
    ...(await project(root, io)),
  ];
}

const numberIn = (text: string): string => /\d+(?:\.\d+)+/.exec(text)?.[0] ?? text.trim();

async function ripgrep(run: RunProgram): Promise<Finding> {
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

function stateFolder(root: string, io: Io): Finding {
  try {
    const dir = ensureStateDir(root, io.env);
    rmSync(mkdtempSync(join(dir, 'probe-')), { recursive: true });
    return { name: 'state folder', status: 'ok', found: dir };
  } catch (error) {
    return {
      name: 'state folder',
      status: 'broken',
      found: (error as Error).message,
      without: 'No session can start: its evidence would have no place.',
      fix:
        error instanceof Error && 'remedy' in error
          ? String(error.remedy)
          : 'Set XDG_STATE_HOME to a folder that you can write.',
    };
  }
}

async function project(root: string, io: Io): Promise<readonly Finding[]> {
  try {
    const { configFile, trusted, ignored, specs, specsFolder } = await openProject(root, io.env);
    const count = Object.keys(specs.peripherals).length;
    return [
      config(configFile, trusted, ignored),
      { name: 'specs', status: 'ok', found: `${count} peripherals (${specsFolder})` },
    ];
  } catch (error) {
    const found = error instanceof SpecError ? `${error.issues.length} problems` : (error as Error).message;
    return [
      {
        name: 'specs',
        status: 'broken',
        found,
        without: 'No session can start.',
        fix:
          error instanceof SpecError
            ? `Run "hopgate check --root ${root}" and correct what it names.`
            : String((error as { remedy?: string }).remedy ?? ''),
      },
    ];
  }
}

function config(file: string | null, trusted: boolean, ignored: readonly string[]): Finding {
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
    without: ignored.length === 0 ? 'Its masks and scopes hold.' : `It only narrows; left out: ${ignored.join(', ')}.`,
    fix: 'Read it, then run "hopgate trust".',
  };
}
