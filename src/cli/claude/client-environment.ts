import { splitWords } from '../../base/text.ts';
import { homeFolder } from '../../base/user-folders.ts';
import type { Io } from '../io.ts';

/** Environment variables by which a user can disable Claude Code's hooks, plugins or the servers of plugins. */
const SWITCHES = ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE', 'CLAUDE_CODE_PERSONAL_HOOKS_OFF'];
const isSwitch = (name: string): boolean => SWITCHES.includes(name) || name.startsWith('CLAUDE_CODE_SKIP_PLUGIN_');

/** Environment variables that decide how the hooks and the MCP server start, their code and their state. */
const STEERING = splitWords(`
  HOPGATE_SESSION HOPGATE_ROOT HOPGATE_PERIPHERAL HOPGATE_DAEMON HOPGATE_DEADLINE_MS HOPGATE_CLAUDE_RULES HOME
  XDG_STATE_HOME XDG_RUNTIME_DIR SHELL CLAUDE_CODE_SHELL CLAUDE_CODE_SHELL_PREFIX CLAUDE_CODE_SHELL_LAUNCHER_SCRIPT
  NODE_OPTIONS NODE_COMPILE_CACHE OPENSSL_CONF BASH_ENV ENV LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES
`);

/**
 * The environment of Claude Code in a hopgate session.
 * @param rules true if its command line has rules that deny or ask
 */
export const claudeEnvironment = (env: Io['env'], session: string, root: string, rules = false): Io['env'] => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !isSwitch(name))),
  HOPGATE_SESSION: session,
  HOPGATE_ROOT: root,
  ...(rules ? { HOPGATE_CLAUDE_RULES: '1' } : {}),
});

/**
 * The values of {@link STEERING} and {@link SWITCHES}, for the setting `env` on Claude Code's command line. Settings on
 * the command line override those of a cloned repository, which could otherwise override the environment of the
 * program. An empty variable counts as unset.
 */
export const pinnedClaudeVariables = (env: Io['env']): { readonly [name: string]: string } =>
  Object.fromEntries(
    [...STEERING, ...SWITCHES].map((name) => [name, name === 'HOME' ? homeFolder(env) : (env[name] ?? '')]),
  );
