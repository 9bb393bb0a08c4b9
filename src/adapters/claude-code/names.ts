/** What Claude Code puts before the tools of the MCP server `hopgate` in the plugin `hopgate`. One that the repository calls so is somebody else's. */
export const OWN_PREFIX = 'mcp__plugin_hopgate_hopgate__';

/** A hopgate tool as the model in Claude Code calls it. */
export const ownName = (tool: string): string => `${OWN_PREFIX}${tool}`;
