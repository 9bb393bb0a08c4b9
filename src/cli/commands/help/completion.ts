import { Argument } from 'commander';
import type { CliCommand } from '../../cli-command.ts';
import { COMPLETION_SCRIPTS } from '../../help/completion-scripts.ts';
import { type Io, printResult } from '../../io.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description('Prints a script that completes commands, options and session ids in your shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(COMPLETION_SCRIPTS)))
    .examples(
      'hopgate completion bash > ~/.local/share/bash-completion/completions/hopgate',
      'source <(hopgate completion bash)   # in ~/.bashrc',
      'source <(hopgate completion zsh)    # in ~/.zshrc, after compinit',
      'hopgate completion fish | source    # in ~/.config/fish/config.fish',
    )
    .action((shell: string) => {
      const script = COMPLETION_SCRIPTS[shell]!;
      printResult(io, { shell, script }, script.trimEnd());
    });
}
