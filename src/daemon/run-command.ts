import { join } from 'node:path';
import { quoteShell } from '../base/text.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';

/** The script that client programs run; see `installLauncher`. */
export const launcherScriptPath = (env: Env): string => join(userStateFolder(env), 'bin', 'hook');

/** Command that runs a stored call. The call's ticket is its last argument. */
export const storedCallCommand = (env: Env): string => `${quoteShell(launcherScriptPath(env))} run`;
