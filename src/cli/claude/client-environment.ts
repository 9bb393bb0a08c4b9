import { homeFolder } from '../../base/user-folders.ts';
import type { Io } from '../io.ts';

/** Variables that disable hooks, plugins or their servers. */
const SWITCHES = ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE', 'CLAUDE_CODE_PERSONAL_HOOKS_OFF'];
const isSwitch = (name: string): boolean => SWITCHES.includes(name) || name.startsWith('CLAUDE_CODE_SKIP_PLUGIN_');

/** Variables that decide how hooks and hopgate's MCP server start, their state folder, and their code. */
const STEERING = [
  ...['HOPGATE_SESSION', 'HOPGATE_ROOT', 'HOPGATE_PERIPHERAL', 'HOPGATE_DAEMON', 'HOPGATE_DEADLINE_MS'],
  'HOPGATE_CLAUDE_RULES',
  ...['HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SHELL', 'CLAUDE_CODE_SHELL', 'CLAUDE_CODE_SHELL_PREFIX', 'CLAUDE_CODE_SHELL_LAUNCHER_SCRIPT'],
  ...['NODE_OPTIONS', 'NODE_COMPILE_CACHE', 'OPENSSL_CONF'],
  ...['BASH_ENV', 'ENV', 'LD_PRELOAD', 'LD_AUDIT', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES'],
];

/**
 * The environment that Claude Code is started with for a hopgate session.
 *
 * @param rules true if its command line has rules that deny or ask
 */
export const clientEnvironment = (env: Io['env'], session: string, root: string, rules = false): Io['env'] => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !isSwitch(name))),
  HOPGATE_SESSION: session,
  HOPGATE_ROOT: root,
  ...(rules ? { HOPGATE_CLAUDE_RULES: '1' } : {}),
});

/**
 * The variables above with their values, as an `env` setting for Claude Code's command line. A cloned repository can
 * contain settings whose variables override the environment of the program; settings on the command line override
 * both. An empty variable counts as unset.
 */
export const pinnedVariables = (env: Io['env']): { readonly [name: string]: string } =>
  Object.fromEntries(
    [...STEERING, ...SWITCHES].map((name) => [name, name === 'HOME' ? homeFolder(env) : (env[name] ?? '')]),
  );
