import type { Command } from 'commander';
import type { Io } from '../io.ts';
import { examples } from '../options.ts';

export function register(program: Command, io: Io): void {
  program
    .command('codex')
    .summary('start Codex in a session')
    .description(
      "Opens a session (or goes on with one) and starts Codex in it: with hopgate's tools as an MCP server, hooks that put every call of Codex's own\nbefore the gate, and Codex's sandbox as the peripheral grants it. All of it is told on Codex's command line: none of your files is changed. From\nthe first word that is no option of hopgate's, everything is Codex's. Exit code 1 if Codex fails, or if its hooks were silent.",
    )
    .argument('[args...]', "Codex's own arguments, such as exec 'fix the bug'")
    .option('--root <dir>', 'the repository; the current folder unless given')
    .option('--session <id>', 'go on with this session')
    .option('--peripheral <id>', 'where a new session starts')
    .option(
      '--approve <names>',
      'give these approvals: destinations (deploy), modes (execute), or all; comma-separated',
    )
    .option('--codex <program>', 'the Codex to start; CODEX_BIN or the one on the PATH unless given')
    .option('--follow', 'resume "codex exec" when the session ended where Codex may do other things')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      'after',
      examples(
        'hopgate codex',
        "hopgate codex --approve execute exec 'fix the failing test'",
        'hopgate codex --session s-4f1c resume --last',
      ),
    )
    .action(async () => {
      const { readCodexCommand } = await import('../codex/own-options.ts');
      const { runCodex } = await import('../codex/run-codex.ts');
      // Read from the words as they came: commander would take Codex's own --json for ours.
      const words = rawWords(program);
      const at = words.indexOf('codex');
      io.json = words.slice(0, at).includes('--json');
      await runCodex(io, readCodexCommand(words.slice(at + 1)));
    });
}

const rawWords = (program: Command): readonly string[] =>
  (program as Command & { readonly rawArgs: readonly string[] }).rawArgs;
