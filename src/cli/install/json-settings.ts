import { isObject } from '../../base/json.ts';
import { CliError } from '../io.ts';

type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** Sets one top-level key of a JSON object, or removes it (undefined). All other text stays the same. */
export function setJsonKey(text: string | null, path: string, key: string, value: Value | undefined): string | null {
  if (text === null || text.trim() === '')
    return value === undefined ? text : `${JSON.stringify({ [key]: value }, null, 2)}\n`;
  const object = parseJsonObject(text, path);
  // If a name occurs twice, the later member counts.
  const member = memberRanges(text).findLast((member) => member.key === key);
  if (value === undefined) return member ? removeMember(text, member) : text;
  if (!member) return addMember(text, Object.keys(object).length === 0, key, value);
  return `${text.slice(0, member.valueFrom)}${formatMember(value, text)}${text.slice(member.to)}`;
}

/**
 * Parses a settings file that must be a JSON object.
 * @throws CliError `bad-json` if the file is not a JSON object, which its client could not read either; the file is not
 *   changed.
 */
export function parseJsonObject(text: string, path: string): { readonly [key: string]: unknown } {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed)) return parsed;
    throw new Error('it does not contain an object');
  } catch (cause) {
    throw new CliError(
      'bad-json',
      `${path} is not readable as JSON: ${(cause as Error).message}`,
      'Correct it (comments are not JSON), then run this again. Nothing was changed.',
      { cause },
    );
  }
}

interface MemberRange {
  readonly key: string;
  readonly from: number;
  readonly valueFrom: number;
  /** The offset after the value. */
  readonly to: number;
}

/** Locates the members of the outermost object. The text must be valid JSON. */
function memberRanges(text: string): readonly MemberRange[] {
  const ranges: MemberRange[] = [];
  let depth = 0;
  let member: { key: string; from: number; valueFrom: number } | null = null;
  let end = 0;
  const finish = () => {
    if (member && member.valueFrom >= 0) ranges.push({ ...member, to: end });
    member = null;
  };
  for (const { index, 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '}' || token === ']') depth--;
    if (depth === 0 && token === '}') finish();
    else if (depth === 1 && token === ',') finish();
    else if (depth === 1 && member === null) member = { key: JSON.parse(token) as string, from: index, valueFrom: -1 };
    else if (member && member.valueFrom < 0 && token !== ':') member.valueFrom = index;
    if (token === '{' || token === '[') depth++;
    end = index + token.length;
  }
  return ranges;
}

const indentOf = (text: string): string => /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
const lineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** Writes a member's value in the file's own style. */
function formatMember(value: Value, text: string): string {
  if (!text.trim().includes('\n')) return JSON.stringify(value);
  const indent = indentOf(text);
  return JSON.stringify(value, null, indent).replaceAll('\n', `${lineOf(text)}${indent}`);
}

function addMember(text: string, isEmpty: boolean, key: string, value: Value): string {
  const close = text.lastIndexOf('}');
  const before = text.slice(0, close).trimEnd();
  const [indent, line] = [indentOf(text), lineOf(text)];
  const member = `${JSON.stringify(key)}: ${formatMember(value, text)}`;
  if (isEmpty) return `${before}${line}${indent}${member}${line}${text.slice(close)}`;
  const gap = before.includes('\n') ? `${line}${indent}` : ' ';
  return `${before},${gap}${member}${text.slice(before.length)}`;
}

/** Removes a member with its comma and white space. */
function removeMember(text: string, { from, to }: MemberRange): string {
  const after = /^\s*,/.exec(text.slice(to));
  if (after) return text.slice(0, from) + text.slice(to + after[0].length).replace(/^\s*/, '');
  const before = /,\s*$/.exec(text.slice(0, from));
  return text.slice(0, from - (before ? before[0].length : 0)) + text.slice(to);
}
