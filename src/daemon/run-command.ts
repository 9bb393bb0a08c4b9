import { join } from 'node:path';
import { quoteShell } from '../base/text.ts';
import { type Env, stateHome } from '../project/state-home.ts';

/** The script that client programs run; see `installLauncher`. */
export const launcherFile = (env: Env): string => join(stateHome(env), 'bin', 'hook');

/** The command line that runs a ticket, up to the ticket itself. */
export const runCommand = (env: Env): string => `${quoteShell(launcherFile(env))} run`;
