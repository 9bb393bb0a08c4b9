import type { Command } from 'commander';
import type { Io } from '../../io.ts';
import { helpExamples, rootOption } from '../../shared-options.ts';
import { clientNames, type InstallOptions, installOrUninstall, scopeOption } from './install.ts';

export function register(command: Command, io: Io): void {
  command
    .description('Removes what "hopgate install" wrote, and nothing else. Sessions and evidence stay.')
    .argument('<client>', clientNames())
    .addOption(scopeOption())
    .addOption(rootOption())
    .option('--dry-run', 'show the changes and write nothing')
    .addHelpText(...helpExamples('hopgate uninstall claude', 'hopgate uninstall claude --scope project'))
    .action((client: string, options: InstallOptions) => installOrUninstall(io, client, options, 'uninstall'));
}
