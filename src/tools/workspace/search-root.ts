import { valueOr } from '../../base/value-or.ts';
import type { ToolCall } from '../../ports/tool-backend.ts';
import type { Anchor, Anchors } from './anchors.ts';
import { makeReadCheck } from './hold-path.ts';
import { parsePathArgument } from './path-argument.ts';
import { failedToolStop, outOfScopeStop, type ToolStop } from './tool-stop.ts';
import { holdFileByBytes } from './unnameable-files.ts';
import { type ExistingPath, walkPathBeneath } from './walk-beneath.ts';

/** The start of a search: a folder that is held open. All of it or only one file of it is searched. */
export interface SearchRoot {
  readonly folder: string;
  readonly target: string;
  rootRelative(path: string): string;
  /** Opens a found file, so that it cannot be exchanged; null unless it is a readable regular file under the root. */
  hold(path: string): ExistingPath | null;
  /** Opens a found file whose name an agent cannot write as an argument; see `unnameable-files.ts`. */
  holdByBytes(path: Buffer): Anchor | null;
  close(): void;
}

/** Holds the start of a search (`path`, default the root). ripgrep works by names, so `hold` checks every result. */
export function holdSearchRoot(call: ToolCall, anchors: Anchors): SearchRoot | ToolStop {
  const { root, scope } = call.envelope;
  if (scope.read === 'none')
    return outOfScopeStop('path', 'This scope reads no files.', 'Hop to a peripheral that reads.');
  const parsed = parsePathArgument(root, 'path', call.args['path'] ?? '.');
  if ('stop' in parsed) return parsed;
  const shown = parsed.segments.join('/') || '.';
  const check = makeReadCheck(call.envelope);
  // If only some files in a folder are readable, the folder is searched and each file is checked.
  const checkStart = scope.read === 'root' ? check : () => null;
  const held = walkPathBeneath(root, parsed.segments, anchors);
  if (held.kind === 'leaves')
    return outOfScopeStop(
      'path',
      `"${shown}" leads out of the root by the link ${held.link}.`,
      'Name a folder inside the root.',
    );
  if (!('real' in held)) return failedToolStop('not-found', `There is no "${shown}".`);
  const refusal = checkStart(parsed.segments) ?? checkStart(held.real);
  const stop = refusal
    ? outOfScopeStop('path', refusal.message, refusal.remedy)
    : held.kind === 'missing'
      ? failedToolStop('not-found', `There is no "${shown}".`)
      : held.kind === 'special'
        ? outOfScopeStop('path', `"${shown}" is a FIFO, socket or device.`, 'Name a folder or a regular file.')
        : null;
  if (stop || held.kind === 'missing') {
    held.close();
    return stop!;
  }
  const isFile = held.kind === 'file';
  const folder = isFile ? held.parent! : held.anchor;
  const base = isFile ? held.real.slice(0, -1) : held.real;
  const full = (path: string) => [...base, ...path.replace(/^\.\//, '').split('/')];
  const hold = (path: string): ExistingPath | null => {
    const segments = full(path);
    if (check(segments)) return null;
    const found = holdOrNull(() => walkPathBeneath(root, segments, anchors));
    if (!found || !('real' in found)) return null;
    if (found.kind === 'file' && found.real.join('/') === segments.join('/')) return found;
    found.close();
    return null;
  };
  return {
    folder: (folder as Anchor).path,
    target: isFile ? `./${held.real.at(-1)}` : './',
    rootRelative: (path) => full(path).join('/'),
    hold,
    holdByBytes: (path) => (check(full(path.toString())) ? null : holdFileByBytes(root, withBase(base, path), anchors)),
    close: held.close,
  };
}

const withBase = (base: readonly string[], path: Buffer): Buffer =>
  base.length === 0 ? path : Buffer.concat([Buffer.from(`${base.join('/')}/`), path]);

/** Returns null if a found file is gone or is no longer readable. */
const holdOrNull = <T>(take: () => T): T | null => valueOr(take, null, ['ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG']);
