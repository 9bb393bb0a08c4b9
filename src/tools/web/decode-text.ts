/** Where an HTML page may say its encoding itself. */
const PRESCAN_BYTES = 1024;

const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Decodes an answer as browsers do: by its byte order mark, else by its content type, else by its `meta`, else as UTF-8. */
export function decodeText(bytes: Uint8Array, type: string, html: boolean): string {
  const encoding = markOf(bytes) ?? named(type) ?? (html ? named(start(bytes)) : undefined);
  return new TextDecoder(encoding).decode(bytes);
}

/** Whether bytes without a content type are text. */
export function looksLikeText(bytes: Uint8Array): boolean {
  return markOf(bytes) !== undefined || !bytes.subarray(0, 8192).includes(0);
}

/** Whether text without a content type is HTML. */
export const looksLikeHtml = (bytes: Uint8Array): boolean => /^\s*<(?:!doctype html|html)\b/i.test(start(bytes));

const start = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1');

const markOf = (bytes: Uint8Array): string | undefined =>
  BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0];

/** The encoding that a text names; undefined if it names none, or one that nobody knows. */
function named(text: string): string | undefined {
  const name = /charset\s*=\s*["']?\s*([\w-]+)/i.exec(text)?.[1];
  try {
    return name === undefined ? undefined : new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}
