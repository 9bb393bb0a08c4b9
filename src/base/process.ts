import type { ChildProcess } from 'node:child_process';
import { constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isAccessible } from './files.ts';
import { valueOr } from './value-or.ts';

/** The path of a program on a PATH, or null. Skips relative folders, where a repository could put a program. */
export function findProgram(name: string, path: string | undefined): string | null {
  for (const folder of (path ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, name);
    if (isExecutableFile(file)) return file;
  }
  return null;
}

export const isExecutableFile = (file: string): boolean =>
  isAccessible(file, constants.X_OK) && statSync(file, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Returns a child that was just started. At the limit of open files, Node makes none of its streams and emits an error
 * that would end this process; this function then throws that error.
 */
export function assertStarted<Child extends ChildProcess>(child: Child): Child {
  if (child.stdio !== undefined) return child;
  child.on('error', () => {});
  throw Object.assign(new Error(`cannot start ${child.spawnfile}: too many open files`), { code: 'EMFILE' });
}

/** Sends a signal to a process, or to a group by its negative id. Ignores a process that has ended. */
export const sendSignal = (pid: number, signal: NodeJS.Signals): unknown =>
  valueOr(() => process.kill(pid, signal), false);

/** True if a process with this id exists, of any user. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
