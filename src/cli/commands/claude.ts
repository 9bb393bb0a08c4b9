import type { Command } from 'commander';
import type { Io } from '../io.ts';
import { examples } from '../options.ts';

export function register(program: Command, io: Io): void {
  program
    .command('claude')
    .summary('start Claude Code in a session')
    .description(
      "Opens a session (or goes on with one) and starts Claude Code in it: a plugin whose hooks put every call before the gate, the tools of the\nperipheral as an MCP server, and settings that keep the hooks on. None of your files is changed. From the first word that is no option of\nhopgate's, everything is Claude Code's, and so is the exit code; it is 1 if the hooks fell silent.",
    )
    .argument('[args...]', "Claude Code's own arguments, such as -p 'fix the bug'")
    .option('--root <dir>', 'the repository; the current folder unless given')
    .option('--session <id>', 'go on with this session')
    .option('--peripheral <id>', 'where a new session starts')
    .option(
      '--approve <names>',
      'give these approvals: destinations (deploy), modes (execute), or all; comma-separated',
    )
    .option('--claude <program>', 'the Claude Code to start; CLAUDE_BIN or the one on the PATH unless given')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      'after',
      examples(
        'hopgate claude',
        "hopgate claude --approve execute -p 'fix the failing test'",
        'hopgate claude --session s-4f1c --continue',
      ),
    )
    .action(async () => {
      const { readClaudeCommand } = await import('../claude/own-options.ts');
      const { runClaude } = await import('../claude/run-claude.ts');
      // Read from the words as they came: commander would take Claude Code's own options for ours.
      const words = (program as Command & { readonly rawArgs: readonly string[] }).rawArgs;
      const at = words.indexOf('claude');
      io.json = words.slice(0, at).includes('--json');
      await runClaude(io, readClaudeCommand(words.slice(at + 1)));
    });
}
