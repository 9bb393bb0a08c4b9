import { closeSync, constants, fstatSync, readFileSync, type Stats } from 'node:fs';
import { scanTestFile } from '../../evidence/findings/weakened-tests.ts';
import type { ObservedEffect, ToolCall } from '../../ports/tool-backend.ts';
import { effectOfWrittenFile, sha256Hex } from '../content-effect.ts';
import { addFindingsToEffect, fileStateOf } from '../file-findings.ts';
import { importProblemOfText } from '../instruction-imports.ts';
import type { Anchors } from './anchors.ts';
import { type HeldPath, holdPathArgument } from './hold-path.ts';
import { refuseNonFile, refuseReplacing } from './regular-file.ts';
import { makeParentFolders, replaceFile } from './replace-file.ts';
import { failedToolStop, isStop, outOfScopeStop, type ToolStop } from './tool-stop.ts';
import type { PathToCreate } from './walk-beneath.ts';

/** Larger files are not read into memory for hashing and replacing. */
const MAX_BYTES = 256 * 2 ** 20;

interface PutResult {
  readonly path: string;
  readonly created: boolean;
  readonly effect: ObservedEffect;
}

/**
 * Creates or replaces the file of the argument `path` with the result of `compose`. All steps use the held file or
 * folder, so the checked file is the written one.
 * @param compose gets the present content (null for a new file) and the root-relative path
 */
export function putFileOfArgument(
  call: ToolCall,
  anchors: Anchors,
  compose: (before: Buffer | null, path: string) => Buffer | ToolStop,
): PutResult | ToolStop {
  const held = holdPathArgument(call, 'path', 'write', anchors);
  if (isStop(held)) return held;
  try {
    const path = held.real.join('/');
    const wrong = refuseNonFile(held, 'path') ?? refuseOtherDevice(call.envelope.root, held, anchors);
    if (wrong) return wrong;
    if (held.kind === 'missing') return create(call, held, path, compose, anchors);
    const irreplaceable = refuseTooLargeFile(held.anchor.stat, path) ?? refuseReplacing(held.anchor.stat, path, 'path');
    if (irreplaceable) return irreplaceable;
    const fd = held.anchor.open(constants.O_RDONLY);
    try {
      const seen = fstatSync(fd);
      const before = readFileSync(fd);
      const bytes = compose(before, path);
      if ('stop' in bytes) return bytes;
      const stop = refuseForbiddenImports(call, path, bytes.toString('utf8'));
      if (stop) return stop;
      replaceFile(held.parent!, held.real.at(-1)!, bytes, seen);
      const effect = addFindingsToEffect(
        call.envelope,
        effectOfWrittenFile(path, sha256Hex(before), sha256Hex(bytes)),
        scanTestFile(path, before.toString('utf8')),
        fileStateOf(path, bytes.toString('utf8'), seen.mode),
      );
      return { path, created: false, effect };
    } finally {
      closeSync(fd);
    }
  } finally {
    held.close();
  }
}

function create(
  call: ToolCall,
  held: PathToCreate,
  path: string,
  compose: (before: null, path: string) => Buffer | ToolStop,
  anchors: Anchors,
): PutResult | ToolStop {
  const bytes = compose(null, path);
  if ('stop' in bytes) return bytes;
  const stop = refuseForbiddenImports(call, path, bytes.toString('utf8'));
  if (stop) return stop;
  const { folder, undo, close } = makeParentFolders(held.parent, held.names.slice(0, -1), anchors);
  try {
    replaceFile(folder, held.names.at(-1)!, bytes, null);
  } catch (error) {
    undo();
    throw error;
  } finally {
    close();
  }
  const effect = effectOfWrittenFile(path, null, sha256Hex(bytes));
  const after = fileStateOf(path, bytes.toString('utf8'), 0);
  return { path, created: true, effect: addFindingsToEffect(call.envelope, effect, null, after) };
}

/** The refusal of a text that imports a masked file or a file outside the root; null if it may be written. */
export function refuseForbiddenImports({ envelope }: ToolCall, path: string, text: string): ToolStop | null {
  const problem = importProblemOfText(envelope, path, text);
  return problem === null
    ? null
    : outOfScopeStop(
        'path',
        `"${path}" cannot be written: ${problem}, and agents' programs show the model what a file imports.`,
        'Leave the import out, or name the file without @.',
      );
}

export const refuseTooLargeFile = ({ size }: Stats, path: string): ToolStop | null =>
  size > MAX_BYTES
    ? failedToolStop('too-large', `"${path}" has more than ${MAX_BYTES / 2 ** 20} MiB; only commands can change it.`)
    : null;

/**
 * The refusal of a file on another file system than the root; null if it is on the same one. The device of the file's
 * folder counts, because overlayfs reports other devices for files.
 */
export function refuseOtherDevice(root: string, held: HeldPath, anchors: Anchors): ToolStop | null {
  const anchor = anchors.root(root);
  try {
    if (held.parent?.stat.dev === anchor.stat.dev) return null;
    return outOfScopeStop('path', `"${held.real.join('/')}" lies on another mounted file system.`, 'Write elsewhere.');
  } finally {
    anchor.close();
  }
}
