import type { Command } from 'commander';
import { renderManPage } from '../../help/man-page.ts';
import { type Io, printResult } from '../../io.ts';
import { helpExamples } from '../../shared-options.ts';

export function configureCommand(command: Command, io: Io): void {
  command
    .description('Prints the manual page in roff. An installed package has it as hopgate(1).')
    .addHelpText(...helpExamples('hopgate man | man -l -'))
    .action(() => {
      const page = renderManPage(command.parent!);
      printResult(io, { page }, page.trimEnd());
    });
}
