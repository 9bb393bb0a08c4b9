import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type Env = { readonly [name: string]: string | undefined };

/**
 * The folder of hopgate's state for this user, with the state folders of all repositories: `$XDG_STATE_HOME/hopgate`. A
 * relative `XDG_STATE_HOME` counts as unset (XDG Base Directory Specification).
 */
export function stateHome(env: Env): string {
  const stated = env['XDG_STATE_HOME'];
  const base = stated !== undefined && isAbsolute(stated) ? stated : join(env['HOME'] || homedir(), '.local', 'state');
  return join(base, 'hopgate');
}
