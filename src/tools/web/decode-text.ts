import { valueOr } from '../../base/value-or.ts';

/** Bytes at the start of an HTML page that may declare its encoding. */
const PRESCAN_BYTES = 1024;

const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Decodes a response as browsers do: by byte order mark, else content type, else `meta`, else UTF-8. */
export function decodeText(bytes: Uint8Array, type: string, html: boolean): string {
  const encoding =
    markOf(bytes) ?? encodingNamedIn(type) ?? (html ? encodingNamedIn(firstCharacters(bytes)) : undefined);
  return new TextDecoder(encoding).decode(bytes);
}

/** True if bytes without a content type look like text. */
export const looksLikeText = (bytes: Uint8Array): boolean =>
  markOf(bytes) !== undefined || !bytes.subarray(0, 8192).includes(0);

/** True if text without a content type looks like HTML. */
export const looksLikeHtml = (bytes: Uint8Array): boolean =>
  /^\s*<(?:!doctype html|html)\b/i.test(firstCharacters(bytes));

const firstCharacters = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1');

const markOf = (bytes: Uint8Array): string | undefined =>
  BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0];

/** Returns the encoding named in a text; undefined if there is none or it is unknown. */
function encodingNamedIn(text: string): string | undefined {
  const name = /charset\s*=\s*(?:["']\s*)?([\w-]+)/i.exec(text)?.[1];
  return name === undefined ? undefined : valueOr(() => new TextDecoder(name).encoding, undefined);
}
