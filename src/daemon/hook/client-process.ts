import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { processStartTime } from '../../base/process-holder.ts';
import type { Env } from '../../base/user-folders.ts';
import { valueOr } from '../../base/value-or.ts';

/** A process, identified by its pid and its start time, because pids are reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The time at which the process started, in clock ticks since the machine was booted. */
  readonly start: string;
}

const SHELLS = new Set(['sh', 'dash', 'bash', 'zsh', 'ksh', 'fish', 'busybox', 'hook', 'timeout']);

/** Package runners, which give an MCP server an environment that is not the client's: `npx hopgate mcp`. */
const RUNNERS = /^(?:npm|npx|pnpm|pnpx|yarn|bunx?|uvx?)(?:-cli)?(?:\.c?js)?$/;

interface Stat extends ProcessIdentity {
  readonly parent: number;
  readonly isWrapper: boolean;
}

function statOf(pid: number): Stat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    const names = [stat.slice(stat.indexOf('(') + 1, end), programOf(pid)];
    // npm sets its process title to "npm exec hopgate", without zero bytes between the words.
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0 ]/, 2);
    return {
      pid,
      parent: Number(fields[1]),
      start: fields[19] ?? '',
      isWrapper:
        names.some((name) => SHELLS.has(name) || name.startsWith('hook-client')) ||
        words.some((word) => RUNNERS.test(basename(word))),
    };
  } catch {
    return null;
  }
}

const programOf = (pid: number): string => valueOr(() => basename(readlinkSync(`/proc/${pid}/exe`)), '');

/** A process, followed by its ancestors; empty if the kernel does not report them (not Linux). */
export function processAncestry(pid: number): readonly (ProcessIdentity & { readonly isWrapper: boolean })[] {
  const line: Stat[] = [];
  for (let next = pid; next > 1 && line.length < 64; ) {
    const stat = statOf(next);
    if (!stat) break;
    line.push(stat);
    next = stat.parent;
  }
  return line;
}

/** The client program of a hook or an MCP server: the nearest ancestor except shells and package runners. */
export function findClientProcess(line: ReturnType<typeof processAncestry>): ProcessIdentity | null {
  const client = line.slice(1).find(({ isWrapper }) => !isWrapper);
  return client ? { pid: client.pid, start: client.start } : null;
}

/**
 * The environment with which a process was started, from the kernel. Nothing that the process does later changes it,
 * such as reading a repository's settings. null if the process has exited or belongs to another user.
 */
export function readProcessEnvironment(process: ProcessIdentity): Env | null {
  try {
    const text = readFileSync(`/proc/${process.pid}/environ`, 'utf8');
    if (!isProcessRunning(process)) return null;
    const pairs = text.split('\0').filter((pair) => pair.includes('='));
    return Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
  } catch {
    return null;
  }
}

export const isSameProcess = (a: ProcessIdentity | null, b: ProcessIdentity | null): boolean =>
  a !== null && b !== null && a.pid === b.pid && a.start === b.start;

export const isProcessRunning = ({ pid, start }: ProcessIdentity): boolean => processStartTime(pid) === start;

/** This process; null if the kernel does not report its start time. */
export function identifyThisProcess(): ProcessIdentity | null {
  const { pid } = process;
  const start = processStartTime(pid);
  return start === null ? null : { pid, start };
}
