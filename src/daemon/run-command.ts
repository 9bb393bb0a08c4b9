import { join } from 'node:path';
import { quoteShell } from '../base/text.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';

/** The script that client programs run; see `installLauncher`. */
export const launcherFile = (env: Env): string => join(userStateFolder(env), 'bin', 'hook');

/** Command that runs a stored call. The call's ticket is its last argument. */
export const runCommand = (env: Env): string => `${quoteShell(launcherFile(env))} run`;
