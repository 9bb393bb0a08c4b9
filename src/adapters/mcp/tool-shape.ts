import type { Tool } from '@modelcontextprotocol/server';
import type { ArgumentRole, SpecSet, ToolSpec } from '../../spec/types.ts';
import type { AgentTool } from '../core/agent-session.ts';

/** What moves the session: it changes nothing outside, but the calls around it must not overtake it. */
const MOVES = ['hop', 'mode'];

/**
 * A tool as MCP clients list it. `readOnlyHint` has to be true to the effect: Codex runs such tools unasked, and Claude Code runs them side by
 * side.
 */
export function mcpTool(tool: AgentTool, name: string, specs: SpecSet | null): Tool {
  const acts = tool.effect === 'act';
  return {
    name,
    title: titleOf(name),
    description: tool.description,
    inputSchema: tool.inputSchema as unknown as Tool['inputSchema'],
    annotations: {
      title: titleOf(name),
      readOnlyHint: !acts && !(tool.kind === 'control' && MOVES.includes(tool.name)),
      destructiveHint: acts,
      openWorldHint: tool.kind === 'tool' && reachesOut(specs?.tools[tool.name] ?? null, specs),
    },
  };
}

/** Does it touch more than the repository? What takes a url, what ships, and what another server does. */
function reachesOut(tool: ToolSpec | null, specs: SpecSet | null): boolean {
  if (tool === null || tool.upstream !== undefined) return true;
  const ships = Object.values(specs?.peripherals ?? {}).some(
    ({ tools, scope }) => scope.rule.command === 'deploy' && tools.includes(tool.id),
  );
  const leaves: { readonly [role in ArgumentRole]: boolean } = {
    'path:read': false,
    'path:write': false,
    command: ships,
    url: true,
    text: false,
  };
  return tool.parameters.some(({ role }) => leaves[role]);
}

const titleOf = (name: string): string => {
  const words = name.replaceAll(/[-_.]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
