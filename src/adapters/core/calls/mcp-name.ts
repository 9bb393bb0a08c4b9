import type { SpecSet, ToolSpec } from '../../../spec/types.ts';

/** hopgate's own MCP server, as one client program names it. Only the exact names count: what merely sounds alike is another server. */
export interface OwnServer {
  /** As the client's own tools name it. */
  readonly server: string;
  /** What the client puts before the names of its tools. */
  readonly prefix: string;
}

/** The server of that name in the plugin `hopgate` of Claude Code. */
export const inClaudeCode = (name: string): OwnServer => ({
  server: `plugin:hopgate:${name}`,
  prefix: `mcp__plugin_hopgate_${name}__`,
});

/** A server of that name in Codex, and in programs that name their servers themselves. */
export const serverNamed = (name: string): OwnServer => ({ server: name, prefix: `mcp__${name}__` });

/** The hopgate tool that an MCP name means; null where the name is of another server, or of none. */
export const ourTool = (name: string, { prefix }: OwnServer): string | null =>
  name.startsWith(prefix) ? name.slice(prefix.length) : null;

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
