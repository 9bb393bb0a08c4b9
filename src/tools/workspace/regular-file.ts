import { constants, type Stats } from 'node:fs';
import type { ToolCall } from '../../ports/tool-backend.ts';
import type { Anchors } from './anchors.ts';
import { type HeldPath, holdPathArgument, type PathAccess } from './hold-path.ts';
import { failedToolStop, isStop, outOfScopeStop, type ToolStop } from './tool-stop.ts';

/** A NUL within this many bytes makes a file binary, as in git. */
const BINARY_PROBE = 8000;

/** Opens the regular file that an argument names. The caller closes `fd`. */
export function openRegularFile(
  call: ToolCall,
  argument: string,
  access: PathAccess,
  anchors: Anchors,
): { fd: number; path: string } | ToolStop {
  const held = holdPathArgument(call, argument, access, anchors);
  if (isStop(held)) return held;
  try {
    const wrong = refuseNonFile(held, argument);
    if (wrong) return wrong;
    if (held.kind === 'missing')
      return failedToolStop('not-found', `There is no "${held.real.join('/')}"; find files with glob.`);
    return { fd: held.anchor.open(constants.O_RDONLY), path: held.real.join('/') };
  } finally {
    held.close();
  }
}

/** The refusal of a folder or special file; null for a regular file or a missing one. */
export function refuseNonFile(held: HeldPath, argument: string): ToolStop | null {
  const path = held.real.join('/') || '.';
  if (held.kind === 'folder')
    return failedToolStop('is-a-folder', `"${path}" is a folder; list it with glob, pattern "${path}/*".`);
  if (held.kind === 'special')
    return outOfScopeStop(argument, `"${path}" is a FIFO, socket or device.`, 'Name a regular file.');
  return null;
}

/** The refusal to replace an existing file; null if it may be replaced. */
export function refuseReplacing(stat: Stats, path: string, argument: string): ToolStop | null {
  if (stat.nlink === 1) return null;
  return outOfScopeStop(
    argument,
    `"${path}" has ${stat.nlink} names (hard links), and another one may lie outside the root.`,
    'Write a file of another name, or ask the operator to break the link.',
  );
}

export const looksBinary = (start: Uint8Array): boolean => start.subarray(0, BINARY_PROBE).includes(0);
