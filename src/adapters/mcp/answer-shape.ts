import { type CallToolResult, type ContentBlock, isSpecType } from '@modelcontextprotocol/server';
import type { Json } from '../../spec/types.ts';
import type { AgentAnswer } from '../core/agent-session.ts';

/** An answer as the result of `tools/call`: a refusal is a result that teaches, never an error of the protocol. */
export function callResult(answer: AgentAnswer, openNow: readonly string[] | null): CallToolResult {
  const through = upstreamResult(answer);
  const content = through?.content ?? [textBlock(answer.text)];
  const structured = through ? through.structuredContent : objectOr(answer.data);
  return {
    content: openNow === null ? content : [...content, textBlock(openText(openNow))],
    ...(structured === null ? {} : { structuredContent: structured }),
    ...(answer.status === 'ok' ? {} : { isError: true }),
  };
}

const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

/** Clients show lists of tools that are a request old, or never change: the answer says what holds. */
const openText = (tools: readonly string[]): string => `Tools open now: ${tools.join(', ')}.`;

type Fields = { [name: string]: Json };

const objectOr = (data: Json | undefined): Fields | null =>
  data !== null && typeof data === 'object' && !Array.isArray(data) ? data : null;

/** The result of an MCP server that was called on the agent's behalf: its blocks (images, resources) go on as they came. */
function upstreamResult({ status, data }: AgentAnswer): {
  readonly content: ContentBlock[];
  readonly structuredContent: Fields | null;
} | null {
  if (status === 'refused') return null;
  const whole = objectOr(data);
  const result = status === 'failed' ? objectOr(whole?.['result']) : whole;
  const content = result?.['content'];
  if (!Array.isArray(content) || !content.every((block) => isSpecType.ContentBlock(block))) return null;
  const blocks = content as unknown as ContentBlock[];
  return { content: blocks, structuredContent: objectOr(result?.['structuredContent']) };
}
