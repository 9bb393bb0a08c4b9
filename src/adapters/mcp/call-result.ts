import { type CallToolResult, type ContentBlock, isSpecType } from '@modelcontextprotocol/server';
import { isObject, type Json } from '../../base/json.ts';
import { CONTROLS } from '../../spec/policy/tool-ids.ts';
import type { AgentAnswer } from '../core/agent-session.ts';

/** `_meta` key that carries the denial as data. Programs read it; the model only sees the text. */
const DENIAL_KEY = 'hopgate/denial';

/**
 * Converts an answer to the result of `tools/call`. A refusal is a result with its remedy, never a protocol error.
 * Clients show their model the structured content instead of the text (Codex even for an error), so it is included only
 * if the text says nothing more.
 * @param openTools the tools, if they have changed; null otherwise. Some clients show a list that is one request old,
 *   or never update it
 * @param part the first part of a text that is too long for one answer
 */
export function toMcpCallResult(
  answer: AgentAnswer,
  openTools: readonly string[] | null,
  part: string | null = null,
): CallToolResult {
  const upstream = upstreamResult(answer);
  const others = upstream?.content.filter(({ type }) => type !== 'text') ?? [];
  const whole = upstream?.content ?? [textBlock(answer.text)];
  const content = part === null ? whole : [textBlock(part), ...others];
  const saysNoMore =
    part === null && openTools === null && (upstream !== null || answer.text === JSON.stringify(answer.data));
  const structured = saysNoMore ? (upstream ? upstream.structuredContent : objectOr(answer.data)) : null;
  return {
    content:
      openTools === null || namesAll(answer, openTools)
        ? content
        : [...content, textBlock(`Tools open now: ${openTools.join(', ')}.`)],
    ...(structured === null ? {} : { structuredContent: structured }),
    ...(answer.status === 'ok' ? {} : { isError: true }),
    ...(answer.status === 'refused' ? { _meta: { [DENIAL_KEY]: answer.denial } } : {}),
  };
}

/** True if the answer's text names all of these tools. Controls are always available, so it need not name them. */
const namesAll = ({ text }: AgentAnswer, openNow: readonly string[]): boolean => {
  const line = /^Now: .*tools open: (.*)\.$/m.exec(text)?.[1]?.split(', ') ?? [];
  return openNow.every((name) => line.includes(name) || (CONTROLS as readonly string[]).includes(name));
};

const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

type Fields = { [name: string]: Json };

const objectOr = (data: Json | undefined): Fields | null => (isObject(data) ? data : null);

/** The result of another MCP server, called for the agent: its blocks (images, resources) stay unchanged. */
function upstreamResult({ status, data }: AgentAnswer): {
  readonly content: ContentBlock[];
  readonly structuredContent: Fields | null;
} | null {
  if (status === 'refused') return null;
  const result = status === 'failed' ? objectOr(objectOr(data)?.['result']) : objectOr(data);
  const content = result?.['content'];
  if (!Array.isArray(content) || !content.every((block) => isSpecType.ContentBlock(block))) return null;
  if (status === 'failed' && content.length === 0) return null; // hopgate caused the failure, not the server
  return { content: content as ContentBlock[], structuredContent: objectOr(result?.['structuredContent']) };
}
