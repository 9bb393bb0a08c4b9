import { join } from 'node:path';
import { type Env, stateHome } from '../base/state-home.ts';
import { quoteShell } from '../base/text.ts';

/** The script that client programs run; see `installLauncher`. */
export const launcherFile = (env: Env): string => join(stateHome(env), 'bin', 'hook');

/** The command line that runs a ticket, up to the ticket itself. */
export const runCommand = (env: Env): string => `${quoteShell(launcherFile(env))} run`;
