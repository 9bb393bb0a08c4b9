import type { Command } from 'commander';
import type { Io } from '../../io.ts';
import { examples, rootOption } from '../../options.ts';
import { change, clients, type InstallOptions, scopeOption } from './install.ts';

export function register(program: Command, io: Io): void {
  program
    .command('uninstall')
    .summary('take hopgate out of a client program')
    .description('Removes what "hopgate install" wrote, and nothing else. Sessions and evidence stay.')
    .argument('<client>', clients())
    .addOption(scopeOption())
    .addOption(rootOption())
    .option('--dry-run', 'show what would be removed, and remove nothing')
    .addHelpText('after', examples('hopgate uninstall claude', 'hopgate uninstall claude --scope project'))
    .action((client: string, options: InstallOptions) => change(io, client, options, 'uninstall'));
}
