import type { Command } from 'commander';
import type { Io } from '../../io.ts';
import { addInstallAction } from './install.ts';

export function configureCommand(command: Command, io: Io): void {
  addInstallAction(
    command.description('Removes what "hopgate install" wrote, and nothing else. Sessions and evidence stay.'),
    io,
    'uninstall',
  );
}
