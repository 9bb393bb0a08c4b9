import { clientTool } from '../core/calls/client-tools.ts';
import type { CodexToolName } from './wording.ts';

/** Where Codex keeps tools of its own for the newer models; its hooks name them with the namespace in front, and nothing between. */
const NAMESPACES = /^(?:functions|collaboration|clock|multi_agent_v1)(?:\.|__|\/)?/;

/** Codex's own, for the newer models: they wait, or ask the person. */
const INNER: ReadonlySet<string> = new Set(['sleep', 'request_user_input_async']);

/** A tool of Codex's, by the name that its hooks give. */
export interface CodexTool {
  /** As the tables know it: without a namespace, and one of hopgate's as the spec spells it. */
  readonly name: string;
  /** It touches nothing. */
  readonly inner: boolean;
}

/**
 * What a hook's `tool_name` means. A name loses its namespace only where what remains is a tool of Codex's, so that nothing passes for what it
 * is not.
 *
 * @param tools the ids of the spec set
 */
export function codexTool(toolName: string, tools: readonly string[], own: CodexToolName): CodexTool {
  const ours = tools.find((id) => toolName === own(id));
  if (ours !== undefined) return { name: `${own('')}${ours}`, inner: false };
  if (toolName.startsWith('mcp__')) return { name: toolName, inner: false };
  const bare = toolName.replace(NAMESPACES, '');
  const name = INNER.has(bare) || clientTool('codex', bare) ? bare : toolName;
  return { name, inner: INNER.has(name) };
}
