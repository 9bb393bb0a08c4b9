import { type CallToolResult, type ContentBlock, isSpecType } from '@modelcontextprotocol/server';
import { isObject } from '../../base/json.ts';
import type { Json } from '../../spec/types.ts';
import type { AgentAnswer } from '../core/agent-session.ts';

/** Where a refusal stands as data, in the result's `_meta`: for programs, and out of the model's sight, which reads the text. */
const DENIAL = 'hopgate/denial';

/**
 * An answer as the result of `tools/call`: a refusal is a result that teaches, never an error of the protocol. Clients show their model the
 * structured content in place of the text (Codex even that of an error), so it stands beside the text only where the text says no more.
 * @param openNow the tools, where they have changed: clients show lists that are a request old, or never change
 */
export function callResult(answer: AgentAnswer, openNow: readonly string[] | null): CallToolResult {
  const through = upstreamResult(answer);
  const content = through?.content ?? [textBlock(answer.text)];
  const saysNoMore = openNow === null && (through !== null || answer.text === JSON.stringify(answer.data));
  const structured = saysNoMore ? (through ? through.structuredContent : objectOr(answer.data)) : null;
  return {
    content: openNow === null ? content : [...content, textBlock(`Tools open now: ${openNow.join(', ')}.`)],
    ...(structured === null ? {} : { structuredContent: structured }),
    ...(answer.status === 'ok' ? {} : { isError: true }),
    ...(answer.status === 'refused' ? { _meta: { [DENIAL]: answer.denial } } : {}),
  };
}

const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

type Fields = { [name: string]: Json };

const objectOr = (data: Json | undefined): Fields | null => (isObject(data) ? data : null);

/** The result of an MCP server that was called on the agent's behalf: its blocks (images, resources) go on as they came. */
function upstreamResult({ status, data }: AgentAnswer): {
  readonly content: ContentBlock[];
  readonly structuredContent: Fields | null;
} | null {
  if (status === 'refused') return null;
  const result = status === 'failed' ? objectOr(objectOr(data)?.['result']) : objectOr(data);
  const content = result?.['content'];
  if (!Array.isArray(content) || !content.every((block) => isSpecType.ContentBlock(block))) return null;
  if (status === 'failed' && content.length === 0) return null; // what failed is not what the server said
  return {
    content: content as unknown as ContentBlock[],
    structuredContent: objectOr(result?.['structuredContent']),
  };
}
