import type { Command } from 'commander';
import { registerClient } from '../../client/command.ts';
import type { Io } from '../../io.ts';

export function register(command: Command, io: Io): void {
  const texts = {
    name: 'claude' as const,
    title: 'Claude Code',
    description:
      "Opens a session (or goes on with one) and starts Claude Code in it: a plugin whose hooks put every call before the gate, the tools of the\nperipheral as an MCP server, and settings that keep the hooks on. None of your files is changed. From the first word that is no option of\nhopgate's, everything is Claude Code's, and so is the exit code; it is 1 if the hooks fell silent.",
    args: "Claude Code's own arguments, such as -p 'fix the bug'",
    examples: [
      'hopgate claude',
      "hopgate claude --approve execute -p 'fix the failing test'",
      'hopgate claude --session s-4f1c --continue',
    ],
  };
  registerClient(command, io, texts, async (words) => {
    const { readClaudeCommand } = await import('../../claude/own-options.ts');
    const { runClaude } = await import('../../claude/run-claude.ts');
    await runClaude(io, readClaudeCommand(words));
  });
}
