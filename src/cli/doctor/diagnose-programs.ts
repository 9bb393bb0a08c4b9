import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { isPathWithin } from '../../base/paths.ts';
import { findProgram } from '../../base/process.ts';
import { excerpt, shorten } from '../../base/text.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import type { FoundPrograms } from '../../tools/programs/program-finder.ts';
import { sandboxOfProcess } from '../../tools/sandbox/detect-sandbox.ts';
import { LayoutError } from '../../tools/sandbox/layout-error.ts';
import { resolveConfigFolder } from '../../tools/sandbox/mounts/layout.ts';
import { makeTestLayout } from '../../tools/sandbox/mounts/tool-layouts.ts';
import type { Sandbox } from '../../tools/sandbox/sandbox.ts';
import { findCommandPrograms, layoutPartsWithoutNetwork } from '../../tools/shell/shell-context.ts';
import type { Io } from '../io.ts';
import type { RunProgram } from '../run-program.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Arguments that make programs print their version; the first that exits with status 0 counts. */
const VERSION_ARGUMENTS = ['--version', 'version', '-version'];

const WITHOUT_PROGRAM = 'bash-test and bash-deploy answer with an error, not with the verdict of another program.';

/**
 * Compares the path and version of programs outside and inside the sandbox: the programs of each command in
 * hopgate.yaml, and the names under `programs`. Outside the sandbox it runs no program of the repository. Each program
 * runs in a temporary folder that holds only the repository's `packageManager`, so the repository's files cannot choose
 * another program.
 */
export async function diagnosePrograms(
  root: string,
  config: ProjectConfig,
  io: Io,
  run: RunProgram,
): Promise<readonly Diagnosis[]> {
  const bad = badToolchains(config);
  if (bad.length > 0) return bad;
  const names = namesIn(config);
  const sandbox = names.length === 0 ? null : await sandboxOfProcess();
  if (!sandbox?.availability.ok || !sandbox.availability.overlay) return [];
  const empty = mkdtempSync(join(tmpdir(), 'hopgate-doctor-'));
  try {
    const packageManager = packageManagerOf(root);
    writeFileSync(join(empty, 'package.json'), JSON.stringify(packageManager === null ? {} : { packageManager }));
    const programs = findCommandPrograms(root, config, io.env as NodeJS.ProcessEnv);
    const world = { root, config, io, run, sandbox, programs, empty, packageManager };
    return await Array.fromAsync(names, (name) => compare(name, world));
  } catch (error) {
    return [badLayout(error)];
  } finally {
    rmSync(empty, { recursive: true });
  }
}

/**
 * The `packageManager` in the repository's package.json, by which pnpm and corepack choose a version; null if there is
 * none. Only a plain version counts: for a URL, corepack would run a downloaded file.
 */
function packageManagerOf(root: string): string | null {
  try {
    const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
    if (/^(?:npm|pnpm|yarn)@[\w.+-]+$/.test(String(packageManager))) return String(packageManager);
  } catch {
    // no manifest, or one that cannot be read
  }
  return null;
}

const namesIn = ({ test, install = [], deploy, programs = [] }: ProjectConfig): readonly string[] => {
  const commands = [...test, ...install, ...Object.values(deploy)];
  return [...new Set([...commands.flatMap(({ run }) => programsOf(run)), ...programs])];
};

/** Words that the shell itself interprets at the beginning of a command. */
const SHELL_WORDS =
  /^(?:break|case|cd|command|continue|do|done|elif|else|esac|eval|exec|exit|export|fi|for|function|if|local|read|return|set|shift|source|then|trap|type|ulimit|umask|unset|until|wait|while)$/;

/** The first word of a command and, of a script of `sh -c`, the words at the beginnings of its commands. */
function programsOf([program = '', option = '', script = '']: readonly string[]): readonly string[] {
  if (!/(?:^|\/)(?:ba|da)?sh$/.test(program) || !/^-[a-z]*c$/.test(option)) return program ? [program] : [];
  const unquoted = script.replace(/'[^']*'|"[^"]*"/g, '""');
  const words = [...unquoted.matchAll(/(?:^|[;&|(\n])[^\S\n]*([a-z][\w.+-]*)(?=[\s;&|)]|$)/g)].map(
    (match) => match[1]!,
  );
  return [program, ...words.filter((word) => !SHELL_WORDS.test(word))];
}

/** The toolchains and programs of hopgate.yaml that do not exist. Runs no program. */
export function diagnoseMissingPrograms(root: string, config: ProjectConfig, io: Io): readonly Diagnosis[] {
  const bad = badToolchains(config);
  if (bad.length > 0) return bad;
  const programs = findCommandPrograms(root, config, io.env as NodeJS.ProcessEnv);
  return namesIn(config).flatMap((name) => (findOutside(name, root, programs, io) === null ? [missing(name)] : []));
}

/** The folders under `toolchains` that no sandbox can show. */
function badToolchains({ toolchains }: ProjectConfig): readonly Diagnosis[] {
  return toolchains.flatMap((folder): Diagnosis | [] => {
    try {
      resolveConfigFolder('toolchains', folder);
      return [];
    } catch (error) {
      return badLayout(error);
    }
  });
}

function badLayout(error: unknown): Diagnosis {
  if (!(error instanceof LayoutError)) throw error;
  return { name: 'programs', status: 'missing', found: error.message, without: WITHOUT_PROGRAM };
}

function missing(name: string): Diagnosis {
  const isOwn = name.includes('/');
  return {
    name,
    status: 'missing',
    found: isOwn ? 'the repository does not have it' : 'your PATH does not have it',
    without: WITHOUT_PROGRAM,
    fix: `${isOwn ? 'Install the dependencies' : `Install ${name}`}, or correct the command in hopgate.yaml.`,
  };
}

/** The program that runs under a name outside of the sandbox; null if there is none. */
function findOutside(name: string, root: string, programs: FoundPrograms, { env }: Io): string | null {
  // The folders of `programs.path` come first: a version manager may have chosen a program there.
  if (!name.includes('/')) return findProgram(name, [...programs.path, env['PATH'] ?? ''].join(delimiter));
  const path = resolve(root, name);
  return existsSync(path) ? path : null;
}

interface Comparison {
  readonly root: string;
  readonly config: ProjectConfig;
  readonly io: Io;
  readonly run: RunProgram;
  readonly sandbox: Sandbox;
  readonly programs: FoundPrograms;
  readonly empty: string;
  readonly packageManager: string | null;
}

async function compare(name: string, world: Comparison): Promise<Diagnosis> {
  const { root, io, programs, packageManager } = world;
  const without = WITHOUT_PROGRAM;
  const outside = findOutside(name, root, programs, io);
  if (outside === null) return missing(name);
  const hidden = programs.hidden.find(({ program }) => program === outside);
  const isManager = packageManager?.startsWith(`${name}@`) === true;
  const version = isPathWithin(root, outside)
    ? null
    : await versionOf(outside, world, isManager ? ['--version'] : VERSION_ARGUMENTS);
  // In the sandbox, such a package manager would try to download itself for more than a minute.
  if (isManager && version === '' && !hidden)
    return {
      name,
      status: 'missing',
      found: `${outside} does not start as ${shorten(packageManager, 40)}, which package.json asks for`,
      without,
      fix: `Run "${name} --version" in the repository, and do as it says.`,
    };
  const inside = await findInside(name, world);
  const fix = hidden
    ? `${hidden.why.replace(/\.$/, '')}. Correct that, or name another program in hopgate.yaml.`
    : `Add the folder that ${name} is installed in to toolchains: in hopgate.yaml.`;
  if (inside.path === null || hidden)
    return { name, status: 'missing', found: `${outside} is not found in the sandbox`, without, fix };
  const found = `${inside.version || 'no version reported'} (${inside.path})`;
  if (inside.path !== outside || (version !== null && version !== inside.version))
    return {
      name,
      status: 'missing',
      found: `${found} in the sandbox, ${version || 'no version reported'} (${outside}) outside`,
      without,
      fix,
    };
  return { name, status: 'ok', found: `${found}; same version in the sandbox` };
}

/** The path that the sandbox finds for a name, and the version that the program prints. */
async function findInside(name: string, { root, config, sandbox, programs, empty }: Comparison) {
  const { mask: masks, toolchains } = config;
  const layout = makeTestLayout({ root, masks, toolchains, programs, overlay: true });
  const target = name.includes('/') ? resolve(root, name) : name;
  const script = `command -v -- "$1" || exit 127; printf %s "$2" > package.json; for q in ${VERSION_ARGUMENTS.join(' ')}; do v=$("$1" $q 2>&1) && { printf '%s\\n' "$v"; exit; }; done`;
  const { stdout } = await sandbox.run(
    { ...layout, ...layoutPartsWithoutNetwork(layout), chdir: '/tmp' },
    ['sh', '-c', script, 'sh', target, readFileSync(join(empty, 'package.json'), 'utf8')],
    { seconds: 30, outputBytes: 1 << 16, signal: new AbortController().signal },
  );
  const [path = '', ...output] = stdout.split('\n');
  return { path: path === '' ? null : path, version: firstLine(output.join('\n')) };
}

/** The version that a program prints outside of the sandbox; empty if it fails with each of `versionArguments`. */
async function versionOf(
  program: string,
  { io, run, empty, programs }: Comparison,
  versionArguments: readonly string[],
): Promise<string> {
  const PATH = [...programs.path, io.env['PATH'] ?? ''].join(delimiter);
  // Without a network, as in the sandbox.
  const env = { ...io.env, PATH, COREPACK_ENABLE_NETWORK: '0' };
  for (const argument of versionArguments) {
    const output = await run('/bin/sh', ['-c', '"$0" "$1" 2>&1', program, argument], { cwd: empty, env });
    if (output !== null) return firstLine(output);
  }
  return '';
}

const firstLine = (text: string): string => excerpt(stripVTControlCharacters(text).trim().split('\n')[0] ?? '', 100);
