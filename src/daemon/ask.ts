import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../project/state-home.ts';
import { buildId, encoded } from './own-files.ts';
import { daemonFolder } from './places.ts';

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
      ? [`X-Hopgate-Env: ${encoded(`${name}=${value}`)}`]
      : [],
  );
  const head = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'Host: hopgate',
    'Connection: close',
    `Authorization: Bearer ${token}`,
    `X-Hopgate-Build: ${buildId()}`,
    `X-Hopgate-Pid: ${pid}`,
    ...passed,
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  const { bytes, connected } = await exchange(socketOf(env), `${head.join('\r\n')}\r\n\r\n${body ?? ''}`, signal);
  const answer = parse(bytes);
  if (!answer) throw new NoDaemon(connected ? 'the daemon went away' : 'the daemon does not answer', connected);
  if (answer.status === 200) return answer.body;
  if (answer.status === 503) throw new NoDaemon('the daemon is finishing', false);
  throw new Error(`the daemon answered ${answer.status}: ${answer.body.toString()}`);
}

/** Sends all, and gives back what came until the end. By hand: loading Node's own HTTP client takes longer than the answer. */
function exchange(
  socketPath: string,
  text: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly bytes: Buffer; readonly connected: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let connected = false;
    // Loading it takes longer than all the rest where no daemon is there.
    const socket = process.getBuiltinModule('node:net').createConnection(socketPath);
    const abort = () => socket.destroy();
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    socket.on('connect', () => {
      connected = true;
      socket.write(text);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      signal?.removeEventListener('abort', abort);
      if (signal?.aborted) reject(signal.reason);
      else resolve({ bytes: Buffer.concat(chunks), connected });
    });
  });
}

/** null: it is not whole. */
function parse(bytes: Buffer): { readonly status: number; readonly body: Buffer } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.subarray(0, end).toString('latin1');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const body = bytes.subarray(end + 4);
  return status !== undefined && body.length === Number(length) ? { status: Number(status), body } : null;
}
