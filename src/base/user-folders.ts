import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type Env = { readonly [name: string]: string | undefined };

/**
 * The user's home folder. A `HOME` that is empty or relative counts as unset. The system's record of the user is used
 * then; `/` if there is none, as in a container with a made-up user.
 */
export function homeFolder(env: Env): string {
  const stated = env['HOME'];
  if (stated !== undefined && isAbsolute(stated)) return stated;
  try {
    return userInfo().homedir;
  } catch {
    return '/';
  }
}

/**
 * A folder of the XDG Base Directory Specification, such as `XDG_CACHE_HOME`; `usual` is its place in the home folder.
 * As the specification says, a relative path counts as unset.
 */
export function xdgFolder(env: Env, variable: `XDG_${string}_HOME`, usual: string): string {
  const stated = env[variable];
  return stated !== undefined && isAbsolute(stated) ? stated : join(homeFolder(env), usual);
}

/** The folder of Claude Code's settings, skills and transcripts of this user. */
export const claudeFolder = (env: Env): string => env['CLAUDE_CONFIG_DIR'] || join(homeFolder(env), '.claude');

/** The folder of Codex's settings and transcripts of this user. */
export const codexFolder = (env: Env): string => env['CODEX_HOME'] || join(homeFolder(env), '.codex');

/**
 * The folder of hopgate's state for this user, which contains the state folders of all repositories:
 * `$XDG_STATE_HOME/hopgate`.
 */
export const userStateFolder = (env: Env): string => join(xdgFolder(env, 'XDG_STATE_HOME', '.local/state'), 'hopgate');
