import type { SpecSet, ToolSpec } from '../../../spec/types.ts';

/** hopgate's own MCP server, as one client program names it. A similar name belongs to another server. */
export interface HopgateServerName {
  /** The name under which the client lists the server. */
  readonly server: string;
  /** The prefix that the client puts before the names of the server's tools. */
  readonly prefix: string;
}

/** The names of hopgate's server in Claude Code, where the plugin `hopgate` calls it `name`. */
export const claudePluginServerName = (name: string): HopgateServerName => ({
  server: `plugin:hopgate:${name}`,
  prefix: `mcp__plugin_hopgate_${name}__`,
});

/** The names of hopgate's server in Codex, and in other programs whose configuration calls it `name`. */
export const userChosenServerName = (name: string): HopgateServerName => ({ server: name, prefix: `mcp__${name}__` });

/** The id of the hopgate tool with this MCP name; null if the name belongs to another server, or to no server. */
export const parseHopgateToolName = (name: string, { prefix }: HopgateServerName): string | null =>
  name.startsWith(prefix) ? name.slice(prefix.length) : null;

/**
 * The tool of the catalogue behind an MCP name of another server: `mcp__<server>__<tool>`, or
 * `mcp__plugin_<plugin>_<server>__<tool>`; undefined if no spec names such a tool. Clients replace characters that a
 * name may not contain by `_`.
 */
export function findUpstreamTool(name: string, specs: SpecSet): ToolSpec | undefined {
  if (!isMcpToolName(name)) return undefined;
  return Object.values(specs.tools).find(({ upstream }) => {
    if (!upstream) return false;
    const tail = `${asInName(upstream.server)}__${asInName(upstream.tool)}`;
    return name === `mcp__${tail}` || (name.startsWith('mcp__plugin_') && name.endsWith(`_${tail}`));
  });
}

export const isMcpToolName = (name: string): boolean => name.startsWith('mcp__');

const asInName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
