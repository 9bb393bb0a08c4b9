import { translateClientTool } from '../core/calls/client-tools.ts';
import type { CodexToolName } from './codex-texts.ts';

/** Namespaces that Codex's hooks put, without a separator, before the names of tools for newer models. */
const NAMESPACES = /^(?:functions|collaboration|clock|multi_agent_v1)(?:\.|__|\/)?/;

/** Codex's own tools, for the newer models, that only wait, tell the time or ask the person. */
const INNER: ReadonlySet<string> = new Set(['sleep', 'curr_time', 'request_user_input_async']);

/**
 * Reads a hook's `tool_name`. The namespace is removed only if the rest names a tool of Codex, so that no other tool
 * is taken for one. A hopgate tool is spelled as in the spec; an `inner` tool has no effect on the world.
 * @param tools the tool ids of the spec set
 */
export function parseCodexToolName(
  toolName: string,
  tools: readonly string[],
  ourName: CodexToolName,
): { readonly name: string; readonly inner: boolean } {
  const tool = tools.find((id) => toolName === ourName(id));
  if (tool !== undefined) return { name: `${ourName('')}${tool}`, inner: false };
  if (toolName.startsWith('mcp__')) return { name: toolName, inner: false };
  const bare = toolName.replace(NAMESPACES, '');
  const name = INNER.has(bare) || translateClientTool('codex', bare) ? bare : toolName;
  return { name, inner: INNER.has(name) };
}
