import type { CliCommand } from '../../cli-command.ts';
import { registerClientCommand } from '../../client/register-client.ts';
import type { Io } from '../../io.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  const texts = {
    name: 'codex' as const,
    title: 'Codex',
    description:
      "Starts Codex in a new or continued session, with hopgate's tools as an MCP server, hooks that check every call of Codex's own tools, and Codex's sandbox set to the limits of the peripheral. All settings are on Codex's command line; none of your files is changed. The first word that is not an option of hopgate, and all words after it, go to Codex. Exit code 1 if Codex fails or its hooks did not answer.",
    args: "Codex's own arguments, such as exec 'fix the bug'",
    more: [['--follow', 'restart "codex exec" with the right sandbox after a hop that changes it']] as const,
    examples: [
      'hopgate codex',
      "hopgate codex --approve execute exec 'fix the failing test'",
      'hopgate codex --session s-4f1c resume --last',
    ],
  };
  registerClientCommand(command, io, texts, async (words) => {
    const { parseCodexCommand } = await import('../../codex/codex-command.ts');
    const { runCodex } = await import('../../codex/run-codex.ts');
    await runCodex(io, parseCodexCommand(words));
  });
}
