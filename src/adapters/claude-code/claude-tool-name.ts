import { claudePluginServerName } from '../core/calls/mcp-name.ts';

/** Returns the name by which the model in Claude Code calls a hopgate tool. */
export type ClaudeToolName = (tool: string) => string;

/** @param server the name of hopgate's MCP server in its plugin */
export const claudeToolName = ({ server }: { readonly server: string }): ClaudeToolName => {
  const { prefix } = claudePluginServerName(server);
  return (tool) => `${prefix}${tool}`;
};
