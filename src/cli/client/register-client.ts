import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';

interface ClientCommandTexts {
  readonly name: 'claude' | 'codex';
  /** The program's display name. */
  readonly title: string;
  readonly description: string;
  readonly args: string;
  /** Options that only this client has: flags and help text. */
  readonly more?: readonly (readonly [flags: string, text: string])[];
  readonly examples: readonly string[];
}

/**
 * Registers a command that starts a client program in a session.
 * @param run receives the words after the command unchanged: commander would parse the program's own options as
 *   hopgate's
 */
export function registerClientCommand(
  command: CliCommand,
  io: Io,
  texts: ClientCommandTexts,
  run: (words: readonly string[]) => Promise<void>,
): void {
  const { name, title } = texts;
  command
    .description(texts.description)
    .argument('[args...]', texts.args)
    .option('--root <dir>', 'the repository (default: the one that contains the current folder)')
    .option('--session <id>', 'continue this session')
    .option('--peripheral <id>', 'the first peripheral of a new session')
    .option('--approve <names>', 'give these approvals: destinations (deploy), modes (execute), all; comma-separated')
    .option(`--${name} <program>`, `the ${title} to start (default: ${name.toUpperCase()}_BIN, else that on the PATH)`);
  for (const [flags, text] of texts.more ?? []) command.option(flags, text);
  command
    .allowUnknownOption()
    .allowExcessArguments()
    .examples(...texts.examples)
    .action(async () => {
      const words = (command.parent as CliCommand & { readonly rawArgs: readonly string[] }).rawArgs;
      const at = words.indexOf(name);
      io.json = words.slice(0, at).includes('--json');
      await run(words.slice(at + 1));
    });
}
