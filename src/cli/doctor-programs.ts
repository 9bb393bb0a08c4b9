import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { isWithin } from '../base/paths.ts';
import { findProgram } from '../base/process.ts';
import { excerpt } from '../base/text.ts';
import type { ProjectConfig } from '../spec/types.ts';
import type { Programs } from '../tools/programs/operator-programs.ts';
import { detectSandbox } from '../tools/sandbox/detect.ts';
import { LayoutError } from '../tools/sandbox/layout-error.ts';
import { testLayout } from '../tools/sandbox/mounts/layouts.ts';
import type { Sandbox } from '../tools/sandbox/sandbox.ts';
import { programsOf } from '../tools/shell/context.ts';
import type { Diagnosis } from './doctor-finding.ts';
import type { Io } from './io.ts';
import type { RunProgram } from './run-program.ts';

/** Arguments that make programs print their version; the first that exits with status 0 counts. */
const QUESTIONS = ['--version', 'version', '-version'];

const NOT_THE_SAME = 'bash-test and bash-deploy answer with an error, not with the verdict of another program.';

/**
 * Compares the path and version of programs outside and inside the sandbox: the first word of each command in
 * hopgate.yaml, and the names under `programs`. Outside the sandbox it runs none of the repository's programs, and it
 * works in an empty folder, so that no file of the repository decides what runs.
 */
export async function programFindings(
  root: string,
  config: ProjectConfig,
  io: Io,
  run: RunProgram,
): Promise<readonly Diagnosis[]> {
  const commands = [...config.test, ...(config.install ?? []), ...Object.values(config.deploy)].flatMap(
    ({ run: [program] }) => program ?? [],
  );
  const names = [...new Set([...commands, ...(config.programs ?? [])])];
  const sandbox = names.length === 0 ? null : await detectSandbox();
  if (!sandbox?.availability.ok || !sandbox.availability.overlay) return [];
  const empty = mkdtempSync(join(tmpdir(), 'hopgate-doctor-'));
  try {
    const programs = programsOf(root, config, io.env as NodeJS.ProcessEnv);
    const findings: Diagnosis[] = [];
    for (const name of names) findings.push(await compare(name, { root, config, io, run, sandbox, programs, empty }));
    return findings;
  } catch (error) {
    if (!(error instanceof LayoutError)) throw error;
    return [{ name: 'programs', status: 'missing', found: error.message, fix: 'Correct it in hopgate.yaml.' }];
  } finally {
    rmSync(empty, { recursive: true });
  }
}

interface World {
  readonly root: string;
  readonly config: ProjectConfig;
  readonly io: Io;
  readonly run: RunProgram;
  readonly sandbox: Sandbox;
  readonly programs: Programs;
  readonly empty: string;
}

async function compare(name: string, world: World): Promise<Diagnosis> {
  const { root, io, programs } = world;
  const without = NOT_THE_SAME;
  const isNamed = !name.includes('/');
  // If a version manager chose a program, that one comes first.
  const path = [...programs.path, io.env['PATH'] ?? ''].join(delimiter);
  const outside = isNamed ? findProgram(name, path) : resolve(root, name);
  if (outside === null)
    return {
      name,
      status: 'missing',
      found: 'your PATH does not have it',
      without,
      fix: `Install ${name}, or correct the command in hopgate.yaml.`,
    };
  const hidden = programs.hidden.find(({ program }) => program === outside);
  const inside = await insideOf(name, world);
  const fix = hidden
    ? `${hidden.why.replace(/\.$/, '')}. Correct that, or name another program in hopgate.yaml.`
    : `Add the folder that ${name} is installed in to toolchains: in hopgate.yaml.`;
  if (inside.path === null || hidden)
    return { name, status: 'missing', found: `${outside} is not found in the sandbox`, without, fix };
  const version = isWithin(root, outside) ? null : await versionOf(outside, world);
  const found = `${inside.version || 'no version reported'} (${inside.path})`;
  if (inside.path !== outside || (version !== null && version !== inside.version))
    return {
      name,
      status: 'missing',
      found: `${found} in the sandbox, ${version || 'no version reported'} (${outside}) outside`,
      without,
      fix,
    };
  return { name, status: 'ok', found: `${found}; the same in the sandbox` };
}

/** The path that the sandbox finds for a name, and the version that the program prints. */
async function insideOf(name: string, { root, config, sandbox, programs }: World) {
  const { mask: masks, toolchains } = config;
  const layout = { ...testLayout({ root, masks, toolchains, programs, overlay: true }), chdir: '/tmp' };
  const target = name.includes('/') ? resolve(root, name) : name;
  const script = `command -v -- "$1" || exit 127; for q in ${QUESTIONS.join(' ')}; do v=$("$1" $q 2>&1) && { printf '%s\\n' "$v"; exit; }; done`;
  const { stdout } = await sandbox.run(layout, ['sh', '-c', script, 'sh', target], {
    seconds: 30,
    outputBytes: 1 << 16,
    signal: new AbortController().signal,
  });
  const [path = '', ...told] = stdout.split('\n');
  return { path: path === '' ? null : path, version: firstLine(told.join('\n')) };
}

async function versionOf(program: string, { io, run, empty, programs }: World): Promise<string> {
  const env = { ...io.env, PATH: [...programs.path, io.env['PATH'] ?? ''].join(delimiter) };
  for (const question of QUESTIONS) {
    const said = await run('/bin/sh', ['-c', '"$0" "$1" 2>&1', program, question], { cwd: empty, env });
    if (said !== null) return firstLine(said);
  }
  return '';
}

const firstLine = (text: string): string => excerpt(text.trim().split('\n')[0] ?? '', 100);
