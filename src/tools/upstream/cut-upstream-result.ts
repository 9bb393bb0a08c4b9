import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Fields, Json } from '../../base/json.ts';
import { cutToHeadAndTail } from '../sandbox/bounded-output.ts';

/** A server's answer as the agent receives it and the evidence stores it. */
export interface UpstreamResult {
  readonly [key: string]: Json;
  readonly content: Json[];
}

/**
 * Converts a server's answer to plain JSON of at most about `bytes`. Long texts are cut in the middle, and data that
 * does not fit is replaced by a note; `truncated` is true then. `clean` is applied to every text.
 */
export function cutUpstreamResult(
  answer: CallToolResult,
  bytes: number,
  clean: (text: string) => string,
): UpstreamResult {
  const { content, structuredContent, isError } = cleanTexts(
    JSON.parse(JSON.stringify(answer)) as Json,
    clean,
  ) as Fields;
  const blocks = Array.isArray(content) ? content : [];
  const rest: { [key: string]: Json } = {
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === true ? { isError } : {}),
  };
  if (sizeOf(blocks) + sizeOf(rest) <= bytes) return { content: blocks, ...rest };
  let left = bytes;
  const kept: Json[] = [];
  for (const block of blocks) {
    const fitting = left <= 0 ? null : shortenBlock(block as Fields, left);
    if (fitting === null) break;
    kept.push(fitting);
    left -= sizeOf(fitting);
  }
  if (rest['structuredContent'] !== undefined && sizeOf(rest['structuredContent']) > left)
    delete rest['structuredContent'];
  return { content: kept, ...rest, truncated: true };
}

function shortenBlock(block: Fields, left: number): Json {
  if (sizeOf(block as Json) <= left) return block as Json;
  const text = block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : null;
  if (text !== null) return { type: 'text', text: cutToHeadAndTail(text, Math.max(left, 1)).text };
  return { type: 'text', text: `[${block['type']} of ${sizeOf(block as Json)} bytes left out]` };
}

const sizeOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

function cleanTexts(value: Json, clean: (text: string) => string): Json {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item) => cleanTexts(item, clean));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), cleanTexts(item, clean)]));
}

export const textOfUpstreamResult = ({ content }: UpstreamResult): string =>
  content
    .flatMap((block) => {
      const { type, text } = block as Fields;
      return type === 'text' && typeof text === 'string' ? [text] : [];
    })
    .join('\n');
