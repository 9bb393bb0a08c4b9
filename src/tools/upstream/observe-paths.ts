import fs from 'node:fs';
import { withOpenFile } from '../../base/files.ts';
import { valueOr } from '../../base/value-or.ts';
import type { ObservedEffect, ToolCall } from '../../ports/tool-backend.ts';
import type { Fields } from '../../spec/types.ts';
import { effectOfWrittenFile, sha256Hex } from '../content-effect.ts';
import type { Anchors } from '../workspace/anchors.ts';
import { holdPathArgument } from '../workspace/hold-path.ts';
import { isStop } from '../workspace/tool-stop.ts';
import { walkPathBeneath } from '../workspace/walk-beneath.ts';
import type { PassedPath } from './prepare-arguments.ts';

/** Larger files are not hashed. */
const MAX_BYTES = 64 * 2 ** 20;

/** State of a path: a file's hash, or a word for anything else. */
type PathState = string | null;

const NO_FILE = new Set(['folder', 'special', 'too-large', 'elsewhere']);

export function readPathStates(
  root: string,
  paths: readonly Pick<PassedPath, 'real'>[],
  anchors: Anchors,
): ReadonlyMap<string, PathState> {
  return new Map(paths.map(({ real }) => [real.join('/'), stateOf(root, real, anchors)]));
}

/** The states of the paths that a call names for reading, by real path. The approval of the call binds these states. */
export function readNamedFiles(call: ToolCall, anchors: Anchors): Fields {
  const paths = call.tool.parameters.flatMap(({ name, role }) => {
    const values = role === 'path:read' ? [call.args[name] ?? []].flat() : [];
    return values.flatMap((path) => {
      const held = valueOr(() => holdPathArgument({ ...call, args: { [name]: path } }, name, 'read', anchors), null);
      if (held === null || isStop(held)) return []; // the call itself is refused
      held.close();
      return [held];
    });
  });
  return Object.fromEntries(readPathStates(call.envelope.root, paths, anchors));
}

function stateOf(root: string, segments: readonly string[], anchors: Anchors): PathState {
  try {
    const held = walkPathBeneath(root, segments, anchors);
    if (!('real' in held)) return 'elsewhere';
    try {
      if (held.kind === 'missing') return null;
      if (held.real.join('/') !== segments.join('/')) return 'elsewhere';
      if (held.kind !== 'file') return held.kind;
      if (held.anchor.stat.size > MAX_BYTES) return 'too-large';
      return withOpenFile(held.anchor.open(fs.constants.O_RDONLY), (fd) => sha256Hex(fs.readFileSync(fd)));
    } finally {
      held.close();
    }
  } catch {
    return 'elsewhere';
  }
}

export function effectsSince(
  before: ReadonlyMap<string, PathState>,
  root: string,
  paths: readonly PassedPath[],
  anchors: Anchors,
): readonly (ObservedEffect & Fields)[] {
  return [...readPathStates(root, paths, anchors)].flatMap(([path, after]) => {
    const was = before.get(path) ?? null;
    if (was === after) return [];
    const hadFile = was !== null && !NO_FILE.has(was);
    const hasFile = after !== null && !NO_FILE.has(after);
    if (hasFile) return [{ ...effectOfWrittenFile(path, hadFile ? was : null, after) }];
    return hadFile ? [{ path, op: 'delete' as const, before: was }] : [];
  });
}
