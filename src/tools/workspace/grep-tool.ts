import fs from 'node:fs';
import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';
import type { Anchors } from './anchors.ts';
import { compileGlobArgument } from './file-glob.ts';
import { runRipgrep } from './ripgrep.ts';
import { holdSearchRoot, type SearchRoot } from './search-root.ts';
import { failedToolStop, invalidArgumentStop, isStop, type ToolStop } from './tool-stop.ts';
import { decodeNameablePath, removeDotSlash, UnnameableFiles } from './unnameable-files.ts';

const SHOWN_CHARACTERS = 1000;
/** Maximum number of listed files with a match in a long line; all are counted. */
const LISTED_LONG = 20;

/** The beginning of a record of a match, up to its path. */
const LONG_MATCH = /^\{"type":"match","data":\{"path":(\{"(?:text|bytes)":"(?:[^"\\]|\\.)*"\})/;

/** ripgrep's `--json` record of one matching line. */
interface MatchRecord {
  readonly type: string;
  readonly data: {
    readonly path: { readonly text?: string; readonly bytes?: string };
    readonly lines: { readonly text?: string; readonly bytes?: string };
    readonly line_number: number;
    readonly absolute_offset: number;
  };
}

/** Runs `grep { pattern, path?, glob?, ignore-case? }`: finds matching lines with ripgrep, without masked files. */
export async function runGrepTool(call: ToolCall, anchors: Anchors): Promise<ToolReport | ToolStop> {
  const { pattern, glob: globArgument, 'ignore-case': ignoreCase = false } = call.args;
  if (typeof pattern !== 'string' || pattern === '' || pattern.includes('\0') || !pattern.isWellFormed())
    return invalidArgumentStop(
      'pattern',
      '"pattern" must be a regular expression.',
      'Give the text to look for, as a regular expression.',
    );
  if (typeof ignoreCase !== 'boolean')
    return invalidArgumentStop('ignore-case', '"ignore-case" must be true or false.', 'Leave it out to match case.');
  const glob = globArgument === undefined ? { matches: () => true } : compileGlobArgument(call, 'glob', true);
  if (isStop(glob)) return glob;
  const root = holdSearchRoot(call, anchors);
  if (isStop(root)) return root;
  const { seconds, outputBytes } = call.tool.limits;
  const matches: Json[] = [];
  const files = new Set<string>();
  const longLines = new Set<string>();
  const unnameable = new UnnameableFiles();
  let size = 0;
  const onDisk = verifier(root);
  try {
    const args = ['--json', '--crlf', '--encoding=none', ...(ignoreCase ? ['--ignore-case'] : []), '-e', pattern];
    const onMatch = (record: Buffer): boolean => {
      const { type, data } = JSON.parse(record.toString()) as MatchRecord;
      if (type !== 'match') return true;
      const bytes = removeDotSlash(bytesOf(data.path));
      const name = decodeNameablePath(bytes);
      if (!glob.matches(name ?? bytes.toString())) return true;
      const line = bytesOf(data.lines);
      if (!onDisk.holds(bytes, data.absolute_offset, line)) return true;
      if (name === null) {
        unnameable.add(root, bytes);
        return true;
      }
      const match = { path: root.rootRelative(name), line: data.line_number, ...showLine(line) };
      size += Buffer.byteLength(JSON.stringify(match)) + 1;
      if (size > outputBytes) return false;
      matches.push(match);
      files.add(match.path);
      return true;
    };
    const onLongMatch = (head: Buffer): void => {
      const path = LONG_MATCH.exec(head.toString())?.[1];
      const bytes = path === undefined ? null : removeDotSlash(bytesOf(JSON.parse(path)));
      const name = bytes && decodeNameablePath(bytes);
      if (bytes && name && glob.matches(name) && onDisk.exists(bytes)) longLines.add(root.rootRelative(name));
    };
    const limits = { seconds, signal: call.signal };
    const run = await runRipgrep(root.folder, args, root.target, '\n', limits, onMatch, onLongMatch);
    if (run.end === 'aborted') return { stop: ABORTED_OUTCOME };
    if (run.end === 'error' && run.stderr) return failedToolStop('bad-pattern', `ripgrep: ${run.stderr.trim()}`);
    if (run.end === 'time-limit' && matches.length === 0)
      return failedToolStop('time-limit', `Nothing was found within ${seconds} s; search a smaller folder.`);
    const truncated = run.end === 'stopped' || run.end === 'time-limit';
    return {
      outcome: {
        status: 'ok',
        result: { matches, truncated, files: [...files], ...unnameable.field, ...longLinesField([...longLines]) },
      },
      effects: [],
    };
  } finally {
    onDisk.close();
    root.close();
  }
}

/**
 * ripgrep opens files by name, and another process can swap a name for a link. So a line is accepted only if the file
 * under the root, opened without following links, has the same bytes at the same offset.
 */
function verifier(root: SearchRoot) {
  let open: { readonly name: Buffer; readonly fd: number | null } | null = null;
  const close = () => {
    if (open?.fd != null) fs.closeSync(open.fd);
    open = null;
  };
  const openFile = (name: Buffer): number | null => {
    if (open?.name.equals(name)) return open.fd;
    close();
    const text = decodeNameablePath(name);
    const held = text === null ? null : root.hold(text);
    const anchor = held?.anchor ?? (text === null ? root.holdByBytes(name) : null);
    try {
      open = { name, fd: anchor?.open(fs.constants.O_RDONLY) ?? null };
    } catch {
      open = { name, fd: null };
    } finally {
      if (held) held.close();
      else anchor?.close();
    }
    return open.fd;
  };
  const holds = (name: Buffer, offset: number, line: Buffer): boolean => {
    const fd = openFile(name);
    if (fd === null) return false;
    const actual = Buffer.alloc(line.length);
    return fs.readSync(fd, actual, 0, line.length, offset) === line.length && actual.equals(line);
  };
  return { holds, exists: (name: Buffer): boolean => openFile(name) !== null, close };
}

/** The field of the result that lists the files in which a line matches and is too long to read. */
const longLinesField = (files: readonly string[]): { [key: string]: Json } =>
  files.length === 0
    ? {}
    : {
        longLines: {
          count: files.length,
          files: files.slice(0, LISTED_LONG),
          why: 'A line matches, but it is too long to show, or matches too often. Search these files for a rarer text.',
        },
      };

/** ripgrep encodes text that is not UTF-8 as base64. */
const bytesOf = ({ text, bytes = '' }: { readonly text?: string; readonly bytes?: string }): Buffer =>
  text === undefined ? Buffer.from(bytes, 'base64') : Buffer.from(text);

function showLine(line: Buffer): { text: string; cut?: true } {
  const text = line.toString('utf8').replace(/\r?\n$/, '');
  if (text.length <= SHOWN_CHARACTERS) return { text };
  return { text: text.slice(0, SHOWN_CHARACTERS).toWellFormed(), cut: true };
}
