import { existsSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { realpathIfAny } from '../../base/files.ts';
import type { Env } from '../../base/user-folders.ts';
import { valueOr } from '../../base/value-or.ts';
import { type FoundPrograms, ProgramMountFinder, type ProgramsRequest } from './program-finder.ts';
import { versionFileStamps } from './shim.ts';
import { findVirtualEnv, type VirtualEnv } from './virtual-env.ts';

const NO_PROGRAMS: FoundPrograms = { path: [], mounts: [], env: {}, hidden: [] };

/**
 * Finds the operator's programs on the operator's own PATH and shows them in the sandbox, read-only, each with its
 * installation or alone. It shows the requested programs, the interpreters in their first lines, and every program that
 * would otherwise resolve to a different one, so that a name means the same program inside and outside. The repository
 * can only add the Python that a `.venv` was made with.
 */
export function findOperatorPrograms(request: ProgramsRequest): FoundPrograms {
  const { env, root } = request;
  const path = [
    ...new Set(
      (env['PATH'] ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => resolve(folder)),
    ),
  ];
  if (path.length === 0) return NO_PROGRAMS;
  const key = JSON.stringify({ ...request, env: relevantEnv(env) });
  const venv = findVirtualEnv(root, env);
  const folders = withVenv(path, root, venv);
  const stamp = [
    ...folders.map(stampOf),
    ...request.names.map((name) => stampOf(resolve(root, name))),
    ...versionFileStamps(root),
  ].join();
  const cached = latest.get(key);
  if (
    cached?.stamp === stamp &&
    cached.programs.mounts.every((mount) => !('source' in mount) || existsSync(mount.source))
  )
    return cached.programs;
  const programs = new ProgramMountFinder(request, folders, venv).findAll();
  latest.set(key, { stamp, programs });
  return programs;
}

/** The last result of each request, and the state of the searched folders at that time. */
const latest = new Map<string, { readonly stamp: string; readonly programs: FoundPrograms }>();

/** The state of a file or folder; empty if it does not exist, or is in an unreadable folder. */
const stampOf = (path: string): string => valueOr(() => `${realpathIfAny(path)} ${statSync(path).mtimeMs}`, '');

const relevantEnv = (env: Env) =>
  Object.entries(env).filter(([name]) =>
    /^PATH$|^HOME$|^GO|^LC_|^LANG|^TZ$|_(?:VERSION|TOOLCHAIN|HOME|ROOT|DIR|PREFIX|ENV)$/.test(name),
  );

/** Puts the repository's own virtual environment first. */
function withVenv(path: readonly string[], root: string, venv: VirtualEnv | null): readonly string[] {
  const bin = venv && join(venv.folder, 'bin');
  const tools = join(root, 'node_modules', '.bin');
  return [
    ...(bin !== null && !path.includes(bin) ? [bin] : []),
    ...path,
    ...(path.includes(tools) || !existsSync(tools) ? [] : [tools]),
  ];
}
