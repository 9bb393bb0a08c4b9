import { spawnSync } from 'node:child_process';
import { openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { realpathIfAny, withOpenFile } from '../../base/files.ts';
import { findProgram } from '../../base/process.ts';
import { splitWords } from '../../base/text.ts';
import type { Env } from '../../base/user-folders.ts';
import { valueOr } from '../../base/value-or.ts';

/** Version managers that install one program under all names; their `which <name>` prints the real program. */
const BINARIES: { readonly [name: string]: string } = { 'volta-shim': 'volta', mise: 'mise', rustup: 'rustup' };
/** Version managers that write a script for each program: pyenv, rbenv, nodenv, goenv, … and asdf. */
const SCRIPT = /^[ \t]*exec\s+"?([^\s"]+)"?\s+exec\s/m;
const ROOT = /^export (\w+ENV_ROOT)="([^"$`\\]+)"$/m;

/** Files in the repository and in the folders above it that select program versions. */
const VERSION_FILES = [
  ...splitWords('.tool-versions mise.toml .mise.toml package.json rust-toolchain rust-toolchain.toml'),
  ...['python', 'ruby', 'node', 'go', 'java', 'php', 'perl', 'lua', 'crystal'].map(
    (language) => `.${language}-version`,
  ),
];

/** Paths, times and sizes of the files that select program versions for a folder. */
export function versionFileStamps(folder: string): readonly string[] {
  const here = VERSION_FILES.flatMap((name) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats ? [`${join(folder, name)} ${stats.mtimeMs} ${stats.size}`] : [];
  });
  return dirname(folder) === folder ? here : [...here, ...versionFileStamps(dirname(folder))];
}

/** The first bytes of a file; empty if it cannot be read. */
export function readFirstBytes(file: string): string {
  const head = Buffer.alloc(1024);
  return valueOr(() => withOpenFile(openSync(file, 'r'), (fd) => head.toString('latin1', 0, readSync(fd, head))), '');
}

/** The version manager of a shim on the PATH; null if the program is not a shim. */
function managerOf(program: string, path: string | undefined): string | null {
  const real = realpathIfAny(program) ?? program;
  const name = BINARIES[basename(real)];
  if (name !== undefined)
    return basename(program) === name ? null : (findProgram(name, dirname(real)) ?? findProgram(name, path));
  const script = SCRIPT.exec(readFirstBytes(real).startsWith('#!') ? readFirstBytes(real) : '')?.[1];
  if (script === undefined || !/^(?:\w*env|asdf|mise)$/.test(basename(script))) return null;
  return isAbsolute(script) ? script : findProgram(script, path);
}

/** The program that a shim runs, or the reason why its version manager runs none. */
export type ResolvedShim = { readonly program: string } | { readonly problem: string };

const targets = new Map<string, ResolvedShim>();

/**
 * The program that a shim's version manager selects for this repository; null if it is not a shim. Runs the operator's
 * manager outside the sandbox (never a program of the repository), and again after a version file has changed.
 */
export function resolveShim(program: string, root: string, env: Env): ResolvedShim | null {
  if (basename(realpathIfAny(program) ?? '') === 'snap' && basename(program) !== 'snap')
    return { problem: 'a snap starts only through its service; install the program in another way' };
  const manager = managerOf(program, env['PATH']);
  if (manager === null) return null;
  const chosen = Object.entries(env).filter(([name]) => /_(?:VERSION|TOOLCHAIN)$/.test(name));
  const key = JSON.stringify([manager, program, versionFileStamps(root), chosen, env['PATH']]);
  const cached = targets.get(key);
  if (cached && 'program' in cached) return cached;
  // The shim's script sets the version manager's folder, which may lie outside of the home folder.
  const [, variable, folder] = ROOT.exec(readFirstBytes(program)) ?? [];
  const { status, stdout, stderr } = spawnSync(manager, ['which', basename(program)], {
    cwd: root,
    env: { ...env, ...(variable === undefined ? {} : { [variable]: folder }) },
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const found = status === 0 ? stdout.trim().split('\n').at(-1)! : '';
  const answer =
    isAbsolute(found) && realpathIfAny(found) !== realpathIfAny(program)
      ? { program: found }
      : { problem: `${basename(manager)}: ${(stderr || 'it names no program').trim().split('\n')[0]}`.slice(0, 200) };
  targets.set(key, answer);
  return answer;
}
