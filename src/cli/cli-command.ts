import { Command } from 'commander';

/** A command of the command line, whose help can show examples. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds the `Examples:` section of the help. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
  }
}
