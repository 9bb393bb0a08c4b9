import type { ClaudeToolName } from '../claude-tool-name.ts';
import { claudeToolName } from '../claude-tool-name.ts';
import { makeClaudeHooks, printHookScript } from './claude-hook-config.ts';

interface PluginOptions {
  readonly version: string;
  /** The shell command line that answers a hook. */
  readonly hookCommand: string;
  readonly server: string;
  /** The command that starts the MCP server, which uses the same session as the hooks. */
  readonly mcp: { readonly command: string; readonly args: readonly string[] };
}

/** The files of the plugin that connects Claude Code with hopgate, by path in the plugin's folder. */
export function makePlugin({ version, hookCommand, server, mcp }: PluginOptions): { readonly [path: string]: string } {
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
      hooks: makeClaudeHooks('"${CLAUDE_PLUGIN_ROOT}/hooks/ask.sh"'),
    }),
    'hooks/ask.sh': printHookScript(hookCommand),
    // The tools are loaded at the start, not by the tool search: an agent needs hop to leave its peripheral.
    '.mcp.json': json({ mcpServers: { [server]: { command: mcp.command, args: mcp.args, alwaysLoad: true } } }),
    'README.md': `# hopgate for Claude Code\n\n${description} Written by \`hopgate claude\` and \`hopgate install claude\`; changes made here are lost.\n`,
    ...commandPages(claudeToolName({ server })),
  };
}

/** The slash commands (`/hopgate:hop` …) by path in the plugin. Each asks the agent to call a tool of hopgate. */
const commandPages = (own: ClaudeToolName): { readonly [path: string]: string } => ({
  'commands/hop.md': page(
    'Hop to another peripheral',
    '[peripheral] [why]',
    `The person at the terminal asks you to hop: $ARGUMENTS

Call ${own('status')} if you do not know which hops are open from here. Then call ${own('hop')} with \`to\`, the exit if several lead there, and \`reason\` in a sentence. If the fruit of this peripheral has stated fields (a summary, a commit message), give them. A refusal says what is missing: do that first, or say why it cannot be done. If an approval is pending, tell the person its id and wait.`,
  ),
  'commands/mode.md': page(
    'Change the mode',
    '[mode] [why]',
    `The person at the terminal asks you to change the mode: $ARGUMENTS

Call ${own('mode')} with \`to\` and \`reason\`. ${own('status')} lists the modes and what each needs. If one needs an approval by the operator, say what you are about to change and when it will be done (\`exit-criteria\`). If one needs a \`summary\`, say what was done. If an approval is pending, tell the person its id and wait.`,
  ),
  'commands/par.md': page(
    'Review this session (PAR)',
    '[what to look at]',
    `Write the post-action review of this session. $ARGUMENTS

Hop to a peripheral that reflects (${own('status')} lists the hops), read the session's log with ${own('musn-log')}, and leave by its exit with ${own('hop')}. Put what you have learned into \`fruit\`: what-went-well, what-could-improve, suggestions, each a list of sentences. The facts (steps, refusals, test runs) are taken from the log automatically.`,
  ),
  'commands/peripheral.md': page(
    'Show the state of this session',
    '[peripheral]',
    `Call ${own('status')} and tell the person at the terminal, in a few lines: the peripheral and the mode, what can be done here and what not, which hops are open and what each still needs. $ARGUMENTS`,
  ),
});

function page(description: string, hint: string, text: string): string {
  return `---\ndescription: ${description}\nargument-hint: ${JSON.stringify(hint)}\ndisable-model-invocation: true\n---\n\n${text}\n`;
}
