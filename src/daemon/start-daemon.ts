import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { splitWords } from '../base/text.ts';
import type { Env } from '../base/user-folders.ts';
import { askDaemon, NoDaemonError } from './hook/ask-daemon.ts';
import { commandEntryFile, compileCacheFolder } from './package-files.ts';

/** The variables that the daemon inherits from its starter. A client program's secrets are not among them. */
const INHERITED_VARIABLES = splitWords(`
  PATH HOME USER LOGNAME SHELL LANG LC_ALL TZ TMPDIR SSH_AUTH_SOCK XDG_STATE_HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME
  XDG_CACHE_HOME HOPGATE_DAEMON_IDLE_MINUTES HOPGATE_HOOK_CLIENT
`);

export const environmentForDaemon = (env: Env): { readonly [name: string]: string } =>
  Object.fromEntries(
    INHERITED_VARIABLES.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );

/** False with `HOPGATE_DAEMON=off`; every process then answers without a daemon. */
export const isDaemonEnabled = (env: Env): boolean => env['HOPGATE_DAEMON'] !== 'off';

/** Flags of Node. Without the limit, V8 keeps more than 100 MB for new objects. The C client passes the same flags. */
const NODE_FLAGS = ['--max-semi-space-size=4'];

/** Starts a daemon as a detached process, without waiting for it. If another daemon runs, one of the two exits. */
export function startDetachedDaemon(env: Env): void {
  const child = spawn(process.execPath, [...NODE_FLAGS, commandEntryFile(), 'daemon'], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env: { ...environmentForDaemon(env), NODE_COMPILE_CACHE: compileCacheFolder(env) },
  });
  child.on('error', () => {});
  child.unref();
}

/** Ensures that a daemon of this build answers. @throws Error if none does within `waitMs` */
export async function ensureDaemon(env: Env, waitMs = 10_000): Promise<void> {
  const deadline = Date.now() + waitMs;
  let started = false;
  for (;;) {
    try {
      await askDaemon('/status', { env });
      return;
    } catch (error) {
      if (!(error instanceof NoDaemonError)) throw error;
      if (Date.now() >= deadline)
        throw new Error('the daemon did not start; "hopgate daemon start" shows the reason', { cause: error });
    }
    if (!started) startDetachedDaemon(env);
    started = true;
    await sleep(25);
  }
}
