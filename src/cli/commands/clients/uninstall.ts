import type { CliCommand } from '../../cli-command.ts';
import type { Io } from '../../io.ts';
import { addInstallAction } from './install.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  addInstallAction(
    command.description('Removes what "hopgate install" wrote, and nothing else. Sessions and evidence stay.'),
    io,
    'uninstall',
  );
}
