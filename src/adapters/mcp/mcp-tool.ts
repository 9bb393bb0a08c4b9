import type { Tool } from '@modelcontextprotocol/server';
import { recordsIntent } from '../../spec/policy/tool-effects.ts';
import type { ArgumentRole, SpecSet, ToolSpec } from '../../spec/types.ts';
import type { AgentTool } from '../core/agent-session.ts';
import { TASK_TOOL_NAME } from './tasks/task-protocol.ts';

/** The controls that move the session. They have no outside effect, but must not run in parallel with other calls. */
const MOVES = ['hop', 'mode'];

/**
 * A tool for MCP's `tools/list`. Clients run tools with `readOnlyHint` unasked or in parallel, so the hint must match
 * the tool's effect.
 */
export function toMcpTool(tool: AgentTool, name: string, specs: SpecSet | null): Tool {
  const { parameters = [] } = specs?.tools[tool.name] ?? {};
  const acts = recordsIntent({ effect: tool.effect, parameters });
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
    ...(tool.name === TASK_TOOL_NAME ? { execution: { taskSupport: 'optional' } } : {}),
  };
}

/** True if the tool reaches beyond the repository: it takes a URL, ships, or belongs to another server. */
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
    resource: true,
    agency: true,
    text: false,
  };
  return tool.parameters.some(({ role }) => leaves[role]);
}

const titleOf = (name: string): string => {
  const words = name.replaceAll(/[-_.]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
