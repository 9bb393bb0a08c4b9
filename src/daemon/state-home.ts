import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type Env = { readonly [name: string]: string | undefined };

/** Where everything that hopgate keeps for this user lies: `$XDG_STATE_HOME/hopgate`. */
export function stateHome(env: Env): string {
  const stated = env['XDG_STATE_HOME'];
  const base = stated !== undefined && isAbsolute(stated) ? stated : join(env['HOME'] || homedir(), '.local', 'state');
  return join(base, 'hopgate');
}
