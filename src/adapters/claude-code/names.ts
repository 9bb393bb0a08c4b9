/** What Claude Code puts before the tools of the MCP server `hopgate` in the plugin `hopgate`. */
export const OWN_PREFIX = 'mcp__plugin_hopgate_hopgate__';

/** A hopgate tool as the model in Claude Code calls it. */
export const ownName = (tool: string): string => `${OWN_PREFIX}${tool}`;

/**
 * The hopgate tool that a name means; null if it is not one of the plugin's own. A server that the repository calls `hopgate` too is somebody
 * else's.
 */
export const ownTool = (name: string): string | null =>
  name.startsWith(OWN_PREFIX) ? name.slice(OWN_PREFIX.length) : null;
