import { fstatSync, openSync, readSync } from 'node:fs';
import { withOpenFile } from '../../base/files.ts';
import { isObject, parseJson } from '../../base/json.ts';

type Fields = { readonly [name: string]: unknown };

/** A call that ran, according to the client program's own log. */
export interface LoggedClientCall {
  readonly id: string;
  /** The client's name for the tool; `mcp__<server>__<tool>` for a tool of an MCP server. */
  readonly tool: string;
  readonly input: unknown;
  /** ISO 8601. */
  readonly at: string;
}

/** Reads the JSON lines after a byte offset, and the new offset. Skips other lines; a missing file has none. */
export function readClientLog(file: string, from = 0): { readonly entries: readonly Fields[]; readonly end: number } {
  const bytes = bytesFrom(file, from);
  const whole = bytes.subarray(0, bytes.lastIndexOf(LINE_BREAK) + 1);
  return { entries: whole.toString('utf8').split('\n').flatMap(entryOf), end: from + whole.length };
}

const LINE_BREAK = 10;

function entryOf(line: string): Fields[] {
  const entry = parseJson(line);
  return isObject(entry) ? [entry] : [];
}

function bytesFrom(file: string, from: number): Buffer {
  try {
    return withOpenFile(openSync(file, 'r'), (fd) => {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - from));
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
    });
  } catch {
    return Buffer.of();
  }
}
