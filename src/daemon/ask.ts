import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { buildId, encoded } from './own-files.ts';
import { daemonFolder, type Env } from './places.ts';

/** No daemon answered: none is there, it is finishing, or it went away. `asked`: it may have begun the work. */
export class NoDaemon extends Error {
  override readonly name = 'NoDaemon';
  readonly asked: boolean;
  constructor(message: string, asked: boolean) {
    super(message);
    this.asked = asked;
  }
}

export interface Asking {
  readonly env: Env;
  readonly pid?: number;
  readonly signal?: AbortSignal;
  /** Sent as it is; without it, the request is a GET. */
  readonly body?: string;
}

export const socketOf = (env: Env): string => join(daemonFolder(env), 'socket');
export const tokenFileOf = (env: Env): string => join(daemonFolder(env), 'token');

/**
 * Asks this user's daemon.
 *
 * @throws NoDaemon where there is none that answers
 */
export async function askDaemon(path: string, { env, pid = process.pid, signal, body }: Asking): Promise<Buffer> {
  let token: string;
  try {
    token = readFileSync(tokenFileOf(env), 'utf8').trim();
  } catch {
    throw new NoDaemon('no daemon is there', false);
  }
  const passed = Object.entries(env).flatMap(([name, value]) =>
    /^(HOPGATE|CLAUDE|CODEX)_/.test(name) && !/TOKEN|KEY|SECRET|PASSWORD/.test(name) && value !== undefined
      ? [encoded(`${name}=${value}`)]
      : [],
  );
  const headers = {
    authorization: `Bearer ${token}`,
    'x-hopgate-build': buildId(),
    'x-hopgate-pid': String(pid),
    'x-hopgate-env': passed,
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    let connected = false;
    const asking = request(
      {
        socketPath: socketOf(env),
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers,
        agent: false,
        ...(signal ? { signal } : {}),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => reject(new NoDaemon('the daemon went away', true)));
        response.on('end', () => {
          if (response.statusCode === 200) resolve(Buffer.concat(chunks));
          else if (response.statusCode === 503) reject(new NoDaemon('the daemon is finishing', false));
          else reject(new Error(`the daemon answered ${response.statusCode}: ${Buffer.concat(chunks).toString()}`));
        });
      },
    );
    asking.on('socket', (socket) => socket.once('connect', () => (connected = true)));
    asking.on('error', (error) => {
      if (signal?.aborted) reject(error);
      else reject(new NoDaemon(`the daemon does not answer (${error.message})`, connected));
    });
    asking.end(body);
  });
}
