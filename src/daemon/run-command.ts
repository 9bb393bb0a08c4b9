import { join } from 'node:path';
import { quoteShell } from '../base/text.ts';
import { type Env, stateHome } from '../base/user-folders.ts';

/** The script that client programs run; see `installLauncher`. */
export const launcherFile = (env: Env): string => join(stateHome(env), 'bin', 'hook');

/** The start of the command line that runs a ticket; the ticket follows. */
export const runCommand = (env: Env): string => `${quoteShell(launcherFile(env))} run`;
