import type { Command } from 'commander';
import { manPage } from '../../help/man-page.ts';
import { type Io, print, printJson } from '../../io.ts';
import { examples } from '../../options.ts';

export function register(command: Command, io: Io): void {
  command
    .description('Prints the manual page in roff. An installed package has it as hopgate(1).')
    .addHelpText('after', examples('hopgate man | man -l -'))
    .action(() => {
      const page = manPage(command.parent!);
      if (io.json) printJson(io, { page });
      else print(io, page.trimEnd());
    });
}
