import { plural } from '../../base/text.ts';
import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { fieldWithFindings } from '../file-findings.ts';
import type { Anchors } from './anchors.ts';
import { putFileOfArgument } from './put-file.ts';
import { looksBinary } from './regular-file.ts';
import { failedToolStop, invalidArgumentStop, isStop, type ToolStop } from './tool-stop.ts';

/** Maximum number of line numbers in a message. */
const SHOWN = 10;

/** Runs `edit { path, old, new, all? }`: replaces exact text. Works on bytes, whatever the encoding. */
export function runEditTool(call: ToolCall, anchors: Anchors): ToolReport | ToolStop {
  const { old: oldText, new: newText, all = false } = call.args;
  for (const [name, text] of [
    ['old', oldText],
    ['new', newText],
  ] as const)
    if (typeof text !== 'string' || !text.isWellFormed())
      return invalidArgumentStop(name, `"${name}" must be well-formed text.`, 'Give "old" as in the file, and "new".');
  if (typeof all !== 'boolean')
    return invalidArgumentStop('all', '"all" must be true or false.', 'Leave it out to replace one place.');
  if (oldText === '')
    return invalidArgumentStop('old', '"old" is empty.', 'Give the text to replace; to create a file, use write.');
  if (oldText === newText) return failedToolStop('no-change', '"old" and "new" are the same; nothing was changed.');
  const [from, to] = [Buffer.from(oldText as string), Buffer.from(newText as string)];
  let [replacements, lines] = [0, 0];
  const put = putFileOfArgument(call, anchors, (before, path) => {
    if (before === null) return failedToolStop('not-found', `There is no "${path}"; create it with write.`);
    if (looksBinary(before)) return failedToolStop('binary-file', `"${path}" is binary; edit changes text only.`);
    const offsets = findOccurrences(before, from);
    if (offsets.length === 0) return notFound(before, from, path);
    if (offsets.length > 1 && !all) return notUnique(before, offsets, path);
    const after = replaceAt(before, offsets, from.length, to);
    [replacements, lines] = [offsets.length, countLines(after)];
    return after;
  });
  if (isStop(put)) return put;
  const result = { path: put.path, replacements, lines, ...fieldWithFindings([put.effect]) };
  return { outcome: { status: 'ok', result }, effects: [put.effect] };
}

function findOccurrences(text: Buffer, part: Buffer): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

function replaceAt(text: Buffer, offsets: readonly number[], length: number, to: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const offset of offsets) {
    parts.push(text.subarray(at, offset), to);
    at = offset + length;
  }
  return Buffer.concat([...parts, text.subarray(at)]);
}

function notUnique(text: Buffer, offsets: readonly number[], path: string): ToolStop {
  return failedToolStop(
    'text-not-unique',
    `"old" occurs ${plural(offsets.length, 'time')} in "${path}" (lines ${lineList(text, offsets)}); give more of the text around one, or set "all".`,
  );
}

/** Describes the closest match, so that the next attempt can succeed. */
function notFound(text: Buffer, part: Buffer, path: string): ToolStop {
  const unified = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  if (unified(text).includes(unified(part))) {
    const ends = text.includes('\r\n') ? 'CRLF ("\\r\\n")' : 'LF ("\\n")';
    return failedToolStop(
      'text-not-found',
      `"old" is in "${path}" except for its line endings: the file has ${ends}; write "old" and "new" with those.`,
    );
  }
  const lines = countLines(text);
  const first = part
    .toString()
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim();
  const near = first ? findOccurrences(text, Buffer.from(first)) : [];
  const hint = near.length
    ? `its first line is there (line ${lineList(text, near)}), but the text around it differs`
    : 'its first line was not found either';
  return failedToolStop(
    'text-not-found',
    `"old" is not in "${path}" (${plural(lines, 'line')}): ${hint}. Read the file again and copy the text exactly.`,
  );
}

function lineList(text: Buffer, offsets: readonly number[]): string {
  const numbers = offsets.slice(0, SHOWN).map((at) => countNewlines(text.subarray(0, at)) + 1);
  return numbers.join(', ') + (offsets.length > SHOWN ? ', …' : '');
}

function countNewlines(text: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) count++;
  return count;
}

const countLines = (text: Buffer): number => countNewlines(text) + (text.length > 0 && text.at(-1) !== 10 ? 1 : 0);
