import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** A process, told apart from every later one of the same number by when it started. */
export interface ProcessMark {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly start: string;
}

const SHELLS = new Set(['sh', 'dash', 'bash', 'zsh', 'ksh', 'fish', 'busybox', 'hook', 'timeout']);

interface Stat extends ProcessMark {
  readonly parent: number;
  readonly isShell: boolean;
}

function statOf(pid: number): Stat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    const names = [stat.slice(stat.indexOf('(') + 1, end), programOf(pid)];
    return {
      pid,
      parent: Number(fields[1]),
      start: fields[19] ?? '',
      isShell: names.some((name) => SHELLS.has(name) || name.startsWith('hook-client')),
    };
  } catch {
    return null;
  }
}

function programOf(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return '';
  }
}

/** A process and those that it descends from, itself first; empty where the kernel does not tell (not Linux). */
export function ancestry(pid: number): readonly (ProcessMark & { readonly isShell: boolean })[] {
  const line: Stat[] = [];
  for (let next = pid; next > 1 && line.length < 64; ) {
    const stat = statOf(next);
    if (!stat) break;
    line.push(stat);
    next = stat.parent;
  }
  return line.map(({ pid, start, isShell }) => ({ pid, start, isShell }));
}

/** The client program that a hook, or an MCP server, belongs to: the nearest process above it that is not a shell. */
export function clientOf(line: ReturnType<typeof ancestry>): ProcessMark | null {
  const client = line.slice(1).find(({ isShell }) => !isShell);
  return client ? { pid: client.pid, start: client.start } : null;
}

export const sameProcess = (a: ProcessMark | null, b: ProcessMark | null): boolean =>
  a !== null && b !== null && a.pid === b.pid && a.start === b.start;

/** Whether that very process still runs. */
export const isRunning = ({ pid, start }: ProcessMark): boolean => statOf(pid)?.start === start;

/** This process; null where the kernel does not tell. */
export function thisProcess(): ProcessMark | null {
  const stat = statOf(process.pid);
  return stat && { pid: stat.pid, start: stat.start };
}
