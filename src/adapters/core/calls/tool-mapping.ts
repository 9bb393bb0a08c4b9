import type { PeripheralSpec, SpecSet } from '../../../spec/types.ts';
import { type ClientTool, clientTool, clientToolNames, type Provider } from './client-tools.ts';
import { serverNamed } from './mcp-name.ts';
import { shellTools } from './shell-route.ts';

/** The peripheral's tools that each client tool reaches, by the client tool's name. */
export type ToolMapping = { readonly [clientTool: string]: readonly string[] };

/**
 * Lists which of a client's tools reach which tools of a peripheral; client tools that reach none are left out. A shell
 * reaches every tool that takes commands (see `routeCommand`). With `mcp`, the names are those of hopgate's MCP server
 * in a client.
 *
 * @example
 * toolMapping('claude-code', specs.peripherals.deploy, specs); // { Bash: ['bash-git', 'bash-deploy'] }
 */
export function toolMapping(
  provider: Provider,
  { tools }: Pick<PeripheralSpec, 'tools'>,
  specs: SpecSet,
  prefix: string = serverNamed('hopgate').prefix,
): ToolMapping {
  if (provider === 'mcp') return Object.fromEntries(tools.map((id) => [`${prefix}${id}`, [id]]));
  const reached = clientToolNames(provider).flatMap((name) => {
    const known = clientTool(provider, name);
    const ids = known ? reaches(known, tools, specs) : [];
    return ids.length > 0 ? [[name, ids] as const] : [];
  });
  return Object.fromEntries(reached);
}

function reaches(known: ClientTool, tools: readonly string[], specs: SpecSet): readonly string[] {
  const among = (...ids: readonly string[]) => ids.filter((id) => tools.includes(id));
  switch (known.kind) {
    case 'same':
      return among(known.tool);
    case 'multi-edit':
    case 'notebook':
      return among('edit');
    case 'patch':
      return among('write', 'edit');
    case 'shell':
      return shellTools(specs, tools);
    case 'inner':
    case 'search':
    case 'outside':
      return [];
    default:
      return known satisfies never;
  }
}
