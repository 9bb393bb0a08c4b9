import { hash } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { withOpenFile } from '../../base/files.ts';
import { asJson, isObject, type Json } from '../../base/json.ts';
import { scanTestFile, type TestFileScan } from '../../evidence/findings/weakened-tests.ts';
import type { NativeCallWatcher, ObservedEffects, ToolCall, ToolRefusal } from '../../ports/tool-backend.ts';
import { effectOfWrittenFile } from '../content-effect.ts';
import { addFindingsToEffect, fileStateOf } from '../file-findings.ts';
import { invalidCall } from '../tool-outcomes.ts';
import type { Anchors } from './anchors.ts';
import { type HeldPath, holdPathArgument, type PathAccess } from './hold-path.ts';
import { refuseForbiddenImports, refuseOtherDevice, refuseTooLargeFile } from './put-file.ts';
import { refuseNonFile, refuseReplacing } from './regular-file.ts';
import { isStop, type ToolStop } from './tool-stop.ts';
import { type ExistingPath, walkPathBeneath } from './walk-beneath.ts';

/** State of the file that a call names before the call: its real path, and its sha256 (null if there is no file). */
interface FileBefore {
  readonly path: string;
  readonly sha256: string | null;
  /** The file's numbers of tests and skipped tests, and its test scripts, to find weakened tests. */
  readonly signals?: TestFileScan;
}

/**
 * Watches file tools that an agent's program runs itself. Before the call: the walk and refusals of hopgate's own
 * tools. After it: the hash of the named file. Other effects of the program are not observed.
 */
export function watchNativeFileTools(anchors: Anchors): NativeCallWatcher {
  return {
    async before(call) {
      const { id } = call.tool;
      if (id === 'glob' || id === 'grep') {
        const { refuseNativeSearch } = await import('./native-search.ts');
        const refused = await refuseNativeSearch(call, anchors);
        return refused ? { refused } : { before: null };
      }
      const seen = stateBefore(call, id === 'read' ? 'read' : 'write', anchors);
      return isStop(seen) ? { refused: refusalOf(seen) } : { before: asJson(seen) };
    },
    async after(call, before) {
      const { id } = call.tool;
      if (id === 'glob' || id === 'grep') return [];
      const state = asFileBefore(before);
      if (!state) return id === 'read' ? [] : 'unobserved';
      if (id === 'read') return state.sha256 === null ? [] : [{ path: state.path, op: 'read' }];
      return changeOf(call, state, anchors);
    },
  };
}

function stateBefore(call: ToolCall, access: PathAccess, anchors: Anchors): FileBefore | ToolStop {
  const held = holdPathArgument(call, 'path', access, anchors);
  // The read of a missing file is not refused here: the client itself reports it.
  if (isStop(held)) return access === 'read' && held.stop.status === 'failed' ? { path: '', sha256: null } : held;
  try {
    const path = held.real.join('/');
    const wrong = access === 'read' ? refuseSpecial(held) : refuseWrite(call, held, path, anchors);
    if (wrong) return wrong;
    if (access === 'read') return { path, sha256: held.kind === 'file' ? '' : null };
    const bytes = held.kind === 'file' ? bytesOf(held) : null;
    const text = bytes?.toString() ?? '';
    const imports = refuseForbiddenImports(call, path, writtenText(call, text));
    if (imports) return imports;
    const signals = bytes && scanTestFile(path, text);
    return { path, sha256: bytes && hash('sha256', bytes), ...(signals ? { signals } : {}) };
  } finally {
    held.close();
  }
}

/** Refuses to read a device, a pipe or a socket. A folder needs no refusal: the client's own read fails. */
const refuseSpecial = (held: HeldPath): ToolStop | null =>
  held.kind === 'special' ? refuseNonFile(held, 'path') : null;

function refuseWrite(call: ToolCall, held: HeldPath, path: string, anchors: Anchors): ToolStop | null {
  const wrong = refuseNonFile(held, 'path') ?? refuseOtherDevice(call.envelope.root, held, anchors);
  if (wrong || held.kind === 'missing') return wrong;
  return refuseTooLargeFile(held.anchor.stat, path) ?? refuseReplacing(held.anchor.stat, path, 'path');
}

/** The text that a file will have after a write or an edit. */
function writtenText({ args }: ToolCall, before: string): string {
  const { content, old, new: to, all } = args;
  if (typeof content === 'string') return content;
  if (typeof old !== 'string' || typeof to !== 'string') return before;
  return all === true ? before.replaceAll(old, () => to) : before.replace(old, () => to);
}

const bytesOf = (held: ExistingPath): Buffer =>
  withOpenFile(held.anchor.open(constants.O_RDONLY), (fd) => readFileSync(fd));

/** Converts a failure of hopgate's own tool into a refusal for the client. */
const refusalOf = ({ stop }: ToolStop): ToolRefusal =>
  stop.status === 'refused' ? stop : invalidCall('path', stop.message, 'Name a regular file inside the root.');

function changeOf({ envelope }: ToolCall, before: FileBefore, anchors: Anchors): ObservedEffects {
  const { path, signals = null } = before;
  const held = walkPathBeneath(envelope.root, path.split('/'), anchors);
  if (!('real' in held)) return 'unobserved';
  try {
    // The name is now a link or a folder, so the program wrote another file.
    if (held.real.join('/') !== path || (held.kind !== 'file' && held.kind !== 'missing')) return 'unobserved';
    const bytes = held.kind === 'file' ? bytesOf(held) : null;
    const after = bytes && hash('sha256', bytes);
    if (after === before.sha256) return [];
    if (held.kind !== 'file' || !bytes || !after)
      return [addFindingsToEffect(envelope, { path, op: 'delete', before: before.sha256 as string }, signals, null)];
    const seen = fileStateOf(path, bytes.toString(), held.anchor.stat.mode);
    return [addFindingsToEffect(envelope, effectOfWrittenFile(path, before.sha256, after), signals, seen)];
  } finally {
    held.close();
  }
}

function asFileBefore(before: Json): FileBefore | null {
  if (!isObject(before)) return null;
  const { path, sha256, signals } = before;
  if (typeof path !== 'string' || (sha256 !== null && typeof sha256 !== 'string')) return null;
  return { path, sha256, ...(signals ? { signals: signals as unknown as TestFileScan } : {}) };
}
