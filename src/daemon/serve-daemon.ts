import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chmodSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAtomically } from '../base/files.ts';
import type { Env } from '../base/user-folders.ts';
import { valueOr } from '../base/value-or.ts';
import type { SessionHostOptions } from './conversations/session-host-options.ts';
import { daemonFolder, ensurePrivateDir } from './daemon-folder.ts';
import { DaemonServer } from './daemon-server.ts';
import { tryLockFile } from './file-lock.ts';
import type { HOOK_HANDLERS } from './hook/answer-hook.ts';
import { askDaemon } from './hook/ask-daemon.ts';
import { installLauncher } from './hook/launcher.ts';
import { commandEntryFile, readInstalledBuild } from './package-files.ts';
import { storedCallCommand } from './run-command.ts';
import { SessionHost } from './session-host.ts';

export interface ServeOptions extends Partial<Pick<SessionHostOptions, 'keepOpenMs' | 'telemetry'>> {
  readonly env: Env;
  /** Minutes without a request after which the daemon exits. Default 15, or `HOPGATE_DAEMON_IDLE_MINUTES`. */
  readonly idleMinutes?: number;
  /** How long to wait for the exit of an older daemon, in milliseconds. */
  readonly waitMs?: number;
  readonly handlers?: typeof HOOK_HANDLERS;
  /** Starts the HTTP server for the same sessions. The daemon then never ends because it is idle. */
  readonly openHttp?: (host: SessionHost, log: (line: string) => void) => Promise<HttpEndpoint>;
}

/** The HTTP server of the daemon's sessions. */
export interface HttpEndpoint {
  /** The address for people: `http://127.0.0.1:4780`. */
  readonly address: string;
  /** Ends the server and its running calls. */
  close(): Promise<void>;
}

interface Daemon {
  readonly socket: string;
  readonly httpAddress: string | null;
  /** Resolves when the daemon has ended: idle, stopped, or replaced. */
  readonly ended: Promise<void>;
  /** Finishes running work, releases the sessions, and ends. */
  stop(): Promise<void>;
}

const DEFAULT_IDLE_MINUTES = 15;
const KEEP_OPEN_MS = 20_000;
const OLDER_DAEMON_MS = 20_000;
const LOG_BYTES = 1 << 20;

/**
 * Starts this user's daemon in this process; null if another daemon runs. A lock decides between several that start at
 * once. The kernel frees it when its holder dies. Only its holder creates or removes the socket.
 */
export async function serveDaemon(options: ServeOptions): Promise<Daemon | null> {
  const { env } = options;
  const folder = ensurePrivateDir(daemonFolder(env));
  const lock = await takeLock(join(folder, 'lock'), env, Date.now() + (options.waitMs ?? OLDER_DAEMON_MS));
  if (!lock) return null;
  try {
    return await runDaemon(options, folder, lock);
  } catch (error) {
    lock.close();
    throw error;
  }
}

async function runDaemon(options: ServeOptions, folder: string, lock: { close(): void }): Promise<Daemon> {
  const { env, keepOpenMs = KEEP_OPEN_MS, telemetry = false, handlers } = options;
  const socket = join(folder, 'socket');
  const log = logTo(join(folder, 'log'));
  const host = new SessionHost({ env, keepOpenMs, telemetry, runCommand: storedCallCommand(env) });
  const build = readInstalledBuild();
  const startedAt = new Date().toISOString();
  const http = options.openHttp ? await options.openHttp(host, log) : null;
  const { promise: stopRequested, resolve: finish } = Promise.withResolvers<void>();
  const token = join(folder, 'token');
  const server = new DaemonServer({
    host,
    token: newToken(token),
    isReplaced: () => readInstalledBuild() !== build,
    log,
    onFinish: finish,
    about: () => ({
      pid: process.pid,
      startedAt,
      socket,
      client,
      entry: commandEntryFile(),
      httpAddress: http?.address ?? null,
    }),
    handlers,
  });
  rmSync(socket, { force: true });
  await once(server.http.listen(socket), 'listening');
  chmodSync(socket, 0o600);
  log(`listens, pid ${process.pid}`);
  const fault = (error: unknown) =>
    log(`the daemon stops after an error: ${error instanceof Error ? error.stack : String(error)}`);
  process.on('uncaughtExceptionMonitor', fault);
  const { client } = installLauncher(env, log);

  const idleMs = 60_000 * (options.idleMinutes ?? idleMinutesOf(env));
  const watch = setInterval(
    () => {
      if ((http === null && server.idleMs >= idleMs) || !isReachable(socket, token, server)) finish();
    },
    Math.min(10_000, Math.max(50, idleMs / 4)),
  );
  const ended = stopRequested.then(async () => {
    clearInterval(watch);
    rmSync(socket, { force: true });
    await http?.close();
    await server.finish();
    await host.close();
    lock.close();
    process.off('uncaughtExceptionMonitor', fault);
    log('ended');
  });
  const stop = (): Promise<void> => {
    finish();
    return ended;
  };
  return { socket, httpAddress: http?.address ?? null, ended, stop };
}

/** Takes the daemon's lock; null if another daemon answers, or does not end until the deadline. */
async function takeLock(file: string, env: Env, deadline: number): Promise<ReturnType<typeof tryLockFile>> {
  for (;;) {
    const lock = tryLockFile(file);
    if (lock || Date.now() >= deadline || (await isAnswering(env))) return lock;
    await sleep(50);
  }
}

/** True if a daemon answers. A daemon whose installation was replaced ends at this request. */
const isAnswering = (env: Env): Promise<boolean> =>
  askDaemon('/status', { env, signal: AbortSignal.timeout(1000) }).then(
    () => true,
    () => false,
  );

/** False if the socket or the token was removed, so that no client can ask this daemon. */
const isReachable = (socket: string, token: string, { http }: DaemonServer): boolean =>
  valueOr(() => http.listening && statSync(socket).isSocket() && statSync(token).isFile(), false);

function newToken(file: string): string {
  const token = randomBytes(32).toString('hex');
  rmSync(file, { force: true });
  // Written atomically: a client that read a part of the token would be refused.
  writeAtomically(file, `${token}\n`);
  return token;
}

function idleMinutesOf(env: Env): number {
  const minutes = Number(env['HOPGATE_DAEMON_IDLE_MINUTES']);
  return minutes > 0 ? minutes : DEFAULT_IDLE_MINUTES;
}

/** A log that is rotated at its limit. One older file is kept. */
function logTo(file: string): (line: string) => void {
  return (line) => {
    try {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) renameSync(file, `${file}.1`);
      appendFileSync(file, `${new Date().toISOString()} ${line.slice(0, 2000)}\n`, { mode: 0o600 });
    } catch {
      // A log that cannot be written must not stop the daemon.
    }
  };
}
