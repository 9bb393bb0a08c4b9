import fs from 'node:fs';
import { promisify } from 'node:util';
import { plural } from '../../base/text.ts';
import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import { wholeCharactersLength } from '../sandbox/bounded-output.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';
import type { Anchors } from './anchors.ts';
import { looksBinary, openRegularFile } from './regular-file.ts';
import { failedToolStop, invalidArgumentStop, isStop, type ToolStop } from './tool-stop.ts';

const readAsync = promisify(fs.read);
const CHUNK = 256 * 1024;
const NEWLINE = 10;

/** Runs `read { path, offset?, limit? }`: returns lines of a text file, counted from 1. */
export async function runReadTool(call: ToolCall, anchors: Anchors): Promise<ToolReport | ToolStop> {
  const offset = lineNumber(call, 'offset', 1);
  if (isStop(offset)) return offset;
  const limit = lineNumber(call, 'limit', Number.MAX_SAFE_INTEGER);
  if (isStop(limit)) return limit;
  const file = openRegularFile(call, 'path', 'read', anchors);
  if (isStop(file)) return file;
  const { fd, path } = file;
  try {
    const range = await readLines(fd, offset.value, limit.value, call.tool.limits, call.signal);
    if (range === 'binary') return failedToolStop('binary-file', `"${path}" is binary; read shows text only.`);
    if (range === 'aborted') return { stop: ABORTED_OUTCOME };
    if (range === 'time-limit')
      return failedToolStop(
        'time-limit',
        `"${path}" could not be read within ${call.tool.limits.seconds} s; search it with grep.`,
      );
    if (offset.value > Math.max(range.lines, 1))
      return failedToolStop('no-such-line', `"${path}" has ${plural(range.lines, 'line')}; give an offset up to that.`);
    const { bytes, ...rest } = range;
    const text = bytes.toString('utf8');
    const result: { [key: string]: Json } = { path, text, ...rest };
    if (!Buffer.from(text).equals(bytes)) result['lossy'] = true;
    return { outcome: { status: 'ok', result }, effects: [{ path, op: 'read' }] };
  } finally {
    fs.closeSync(fd);
  }
}

interface LineRange {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** Lines in the whole file. */
  readonly lines: number;
  readonly truncated: boolean;
}

/** Streams the file, so that its size does not matter. Keeps up to `cap` bytes: whole lines, or a part of the first. */
async function readLines(
  fd: number,
  from: number,
  limit: number,
  { outputBytes: cap, seconds }: ToolCall['tool']['limits'],
  signal: AbortSignal,
): Promise<LineRange | 'binary' | 'aborted' | 'time-limit'> {
  const deadline = performance.now() + seconds * 1000;
  const chunk = Buffer.allocUnsafe(CHUNK);
  const kept: Buffer[] = [];
  const end = from + limit;
  // `line` is the line number of the next byte; `whole` counts the kept bytes up to the last line end.
  let [line, size, whole, wholeTo, over, last] = [1, 0, 0, from - 1, false, NEWLINE];
  const keep = (part: Buffer) => {
    const room = part.subarray(0, Math.max(0, cap - size));
    if (room.length < part.length) over = true;
    if (room.length > 0) kept.push(Buffer.from(room));
    size += room.length;
  };
  for (let at = 0; ; ) {
    if (signal.aborted) return 'aborted';
    if (performance.now() >= deadline) return 'time-limit';
    const { bytesRead } = await readAsync(fd, chunk, 0, CHUNK, at);
    if (bytesRead === 0) break;
    const seen = chunk.subarray(0, bytesRead);
    if (at === 0 && looksBinary(seen)) return 'binary';
    for (let start = 0; start < seen.length; ) {
      const newline = seen.indexOf(NEWLINE, start);
      const stop = newline < 0 ? seen.length : newline + 1;
      if (line >= from && line < end && !over) {
        keep(seen.subarray(start, stop));
        if (newline >= 0 && !over) [whole, wholeTo] = [size, line];
      }
      if (newline >= 0) line++;
      start = stop;
    }
    last = seen[bytesRead - 1]!;
    at += bytesRead;
  }
  const lines = last === NEWLINE ? line - 1 : line;
  const all = Buffer.concat(kept);
  if (!over) return { bytes: all, from, to: Math.min(lines, end - 1), lines, truncated: false };
  if (whole > 0) return { bytes: all.subarray(0, whole), from, to: wholeTo, lines, truncated: true };
  return { bytes: all.subarray(0, wholeCharactersLength(all)), from, to: from, lines, truncated: true };
}

function lineNumber(call: ToolCall, argument: string, preset: number): { value: number } | ToolStop {
  const value: Json = call.args[argument] ?? preset;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return { value };
  return invalidArgumentStop(argument, `"${argument}" must be a whole number from 1.`, 'Lines count from 1.');
}
