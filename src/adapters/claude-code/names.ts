import { inClaudeCode } from '../core/mcp-name.ts';

/** A tool of hopgate's as the model in Claude Code calls it. */
export type Naming = (tool: string) => string;

/** @param server the name of hopgate's MCP server in its plugin */
export const namedBy = ({ server }: { readonly server: string }): Naming => {
  const { prefix } = inClaudeCode(server);
  return (tool) => `${prefix}${tool}`;
};
