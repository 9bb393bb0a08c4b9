import { claudeToolName } from '../claude-tool-name.ts';
import { claudeHooks, hookScript } from './claude-hook-config.ts';
import { commandPages } from './command-pages.ts';

export interface PluginOptions {
  readonly version: string;
  /** The shell command line that answers a hook. */
  readonly hookCommand: string;
  readonly server: string;
  /** The command that starts the MCP server, which uses the same session as the hooks. */
  readonly mcp: { readonly command: string; readonly args: readonly string[] };
}

/** The files of the plugin that connects Claude Code with hopgate, by path in the plugin's folder. */
export function pluginFiles({ version, hookCommand, server, mcp }: PluginOptions): { readonly [path: string]: string } {
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const description =
    'Keeps this agent inside peripherals: allowed tools, allowed hops, a mode gate, and evidence of every step.';
  return {
    '.claude-plugin/plugin.json': json({
      name: 'hopgate',
      version,
      description,
      author: { name: 'hopgate' },
      license: 'MIT',
      keywords: ['gate', 'evidence', 'sandbox'],
    }),
    'hooks/hooks.json': json({
      description: 'Every call is decided by hopgate.',
      hooks: claudeHooks('"${CLAUDE_PLUGIN_ROOT}/hooks/ask.sh"'),
    }),
    'hooks/ask.sh': hookScript(hookCommand),
    // Loaded at the start, not by the tool search: without hop and mode an agent cannot leave its peripheral.
    '.mcp.json': json({ mcpServers: { [server]: { command: mcp.command, args: mcp.args, alwaysLoad: true } } }),
    'README.md': `# hopgate for Claude Code\n\n${description} Written by \`hopgate claude\` and \`hopgate install claude\`; changes made here are lost.\n`,
    ...commandPages(claudeToolName({ server })),
  };
}
