import type { CliCommand } from '../../cli-command.ts';
import { renderManPage } from '../../help/man-page.ts';
import { type Io, printResult } from '../../io.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description('Prints the manual page in roff. An installed package has it as hopgate(1).')
    .examples('hopgate man | man -l -')
    .action(() => {
      const page = renderManPage(command.parent!);
      printResult(io, { page }, page.trimEnd());
    });
}
