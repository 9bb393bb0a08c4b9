import type { SpecSet, ToolSpec } from '../../spec/types.ts';

/** What Claude Code and Codex put before the tools of hopgate's MCP server: by the plugin, and as a server of that name. */
export const OUR_PREFIXES: readonly string[] = ['mcp__plugin_hopgate_hopgate__', 'mcp__hopgate__'];

/** The hopgate tool that an MCP name means; null where the name is of another server, or of none. */
export function ourTool(name: string, prefixes: readonly string[] = OUR_PREFIXES): string | null {
  const prefix = prefixes.find((each) => name.startsWith(each));
  return prefix === undefined ? null : name.slice(prefix.length);
}

/**
 * The tool of the catalogue behind an MCP name of another server: `mcp__<server>__<tool>`, or `mcp__plugin_<plugin>_<server>__<tool>`; undefined
 * where the spec set fronts no such tool. Clients write `_` for what may not stand in a name.
 */
export function upstreamTool(name: string, specs: SpecSet): ToolSpec | undefined {
  if (!isMcpName(name)) return undefined;
  return Object.values(specs.tools).find(({ upstream }) => {
    if (!upstream) return false;
    const tail = `${asInName(upstream.server)}__${asInName(upstream.tool)}`;
    return name === `mcp__${tail}` || (name.startsWith('mcp__plugin_') && name.endsWith(`_${tail}`));
  });
}

export const isMcpName = (name: string): boolean => name.startsWith('mcp__');

const asInName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
