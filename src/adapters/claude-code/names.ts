import { inClaudeCode } from '../core/calls/mcp-name.ts';

/** A tool of hopgate's as the model in Claude Code calls it. */
export type ClaudeToolName = (tool: string) => string;

/** @param server the name of hopgate's MCP server in its plugin */
export const claudeToolName = ({ server }: { readonly server: string }): ClaudeToolName => {
  const { prefix } = inClaudeCode(server);
  return (tool) => `${prefix}${tool}`;
};
