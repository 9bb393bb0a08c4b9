import type { Command } from 'commander';
import { registerClient } from '../../client/command.ts';
import type { Io } from '../../io.ts';

export function register(command: Command, io: Io): void {
  const texts = {
    name: 'codex' as const,
    title: 'Codex',
    description:
      "Opens a session (or goes on with one) and starts Codex in it: with hopgate's tools as an MCP server, hooks that put every call of Codex's own\nbefore the gate, and Codex's sandbox as the peripheral grants it. All of it is told on Codex's command line: none of your files is changed. From\nthe first word that is no option of hopgate's, everything is Codex's. Exit code 1 if Codex fails, or if its hooks were silent.",
    args: "Codex's own arguments, such as exec 'fix the bug'",
    more: [['--follow', 'resume "codex exec" when the session ended where Codex may do other things']] as const,
    examples: [
      'hopgate codex',
      "hopgate codex --approve execute exec 'fix the failing test'",
      'hopgate codex --session s-4f1c resume --last',
    ],
  };
  registerClient(command, io, texts, async (words) => {
    const { readCodexCommand } = await import('../../codex/own-options.ts');
    const { runCodex } = await import('../../codex/run-codex.ts');
    await runCodex(io, readCodexCommand(words));
  });
}
