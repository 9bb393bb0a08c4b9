import type { CliCommand } from '../../cli-command.ts';
import { registerClientCommand } from '../../client/register-client.ts';
import type { Io } from '../../io.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  const texts = {
    name: 'claude' as const,
    title: 'Claude Code',
    description:
      "Starts Claude Code in a new or continued session. A plugin's hooks check every call, an MCP server has the tools of the peripheral, and settings keep the hooks on. None of your files is changed. The first word that is not an option of hopgate, and all words after it, go to Claude Code. The exit code is that of Claude Code, or 1 if the hooks stopped answering.",
    args: "Claude Code's own arguments, such as -p 'fix the bug'",
    examples: [
      'hopgate claude',
      "hopgate claude --approve execute -p 'fix the failing test'",
      'hopgate claude --session s-4f1c --continue',
    ],
  };
  registerClientCommand(command, io, texts, async (words) => {
    const { parseClaudeCommand } = await import('../../claude/claude-command.ts');
    const { runClaude } = await import('../../claude/run-claude.ts');
    await runClaude(io, parseClaudeCommand(words));
  });
}
