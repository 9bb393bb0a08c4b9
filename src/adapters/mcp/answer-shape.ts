import { type CallToolResult, type ContentBlock, isSpecType } from '@modelcontextprotocol/server';
import type { Json } from '../../spec/types.ts';
import type { AgentAnswer } from '../core/agent-session.ts';

/**
 * An answer as the result of `tools/call`: a refusal is a result that teaches, never an error of the protocol. Clients may show a model the
 * structured content in place of the text; so it stands beside the text only where the text says no more than it, or where it is an error, whose
 * text is always shown.
 * @param openNow the tools, where they have changed: clients show lists that are a request old, or never change
 */
export function callResult(answer: AgentAnswer, openNow: readonly string[] | null): CallToolResult {
  const through = upstreamResult(answer);
  const content = through?.content ?? [textBlock(answer.text)];
  const isError = answer.status !== 'ok';
  const saysNoMore = openNow === null && (through !== null || answer.text === JSON.stringify(answer.data));
  const structured = through ? through.structuredContent : objectOr(answer.data);
  return {
    content: openNow === null ? content : [...content, textBlock(`Tools open now: ${openNow.join(', ')}.`)],
    ...(structured !== null && (isError || saysNoMore) ? { structuredContent: structured } : {}),
    ...(isError ? { isError } : {}),
  };
}

const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

type Fields = { [name: string]: Json };

const objectOr = (data: Json | undefined): Fields | null =>
  data !== null && typeof data === 'object' && !Array.isArray(data) ? data : null;

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
