import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Env } from '../../base/user-folders.ts';
import { valueOr } from '../../base/value-or.ts';
import { daemonFolder } from '../daemon-folder.ts';
import { encodeHeader } from '../header-text.ts';
import { takeOutputParts } from './answer-frame.ts';

/** Thrown if no daemon answered: none runs, or it is ending. */
export class NoDaemonError extends Error {
  override readonly name = 'NoDaemonError';
  /** True if a daemon may have started the work. */
  readonly hasStarted: boolean;
  constructor(message: string, hasStarted: boolean) {
    super(message);
    this.hasStarted = hasStarted;
  }
}

interface DaemonRequest {
  readonly env: Env;
  readonly pid?: number;
  readonly signal?: AbortSignal;
  /** The body of a POST; without it, the request is a GET. */
  readonly body?: string;
  /** Receives each part of the output that precedes the answer, as soon as it arrives. */
  readonly onPart?: (bytes: Buffer) => void;
}

export const daemonSocketPath = (env: Env): string => join(daemonFolder(env), 'socket');
export const daemonTokenPath = (env: Env): string => join(daemonFolder(env), 'token');

/** Sends a request to this user's daemon. @throws NoDaemonError if none answers */
export async function askDaemon(
  path: string,
  { env, pid = process.pid, signal, body, onPart }: DaemonRequest,
): Promise<Buffer> {
  const token = readToken(env);
  if (token === null) throw new NoDaemonError('no daemon is running', false);
  // An import of node:http would read each of its exports, and so load all of fetch. That takes longer than the start
  // of Node itself.
  const request = process.getBuiltinModule('node:http').request({
    // No HTTP agent: it would compile Node's pattern for IPv6 addresses, which takes three milliseconds.
    createConnection: () => createConnection(daemonSocketPath(env)),
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Host: 'hopgate',
      Authorization: `Bearer ${token}`,
      'X-Hopgate-Pid': pid,
      'X-Hopgate-Cwd': encodeHeader(process.cwd()),
      'X-Hopgate-Env': passedVariables(env),
      ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
    },
    signal,
  });
  let connected = false;
  request.once('socket', (socket) => socket.once('connect', () => (connected = true)));
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end(body);
  });
  let status: number | undefined;
  let bytes: Buffer;
  try {
    const response = await answer;
    status = response.statusCode;
    bytes = await (onPart ? withoutParts(response, onPart) : buffer(response));
  } catch {
    if (signal?.aborted) throw signal.reason;
    throw new NoDaemonError(connected ? 'the daemon stopped' : 'the daemon does not answer', connected);
  }
  if (status === 200) return bytes;
  if (status === 503) throw new NoDaemonError('the daemon is finishing', false);
  if (status === 403 && readToken(env) !== token) throw new NoDaemonError('another daemon has started', false);
  throw new Error(`the daemon answered ${status}: ${bytes.toString()}`);
}

const readToken = (env: Env): string | null => valueOr(() => readFileSync(daemonTokenPath(env), 'utf8').trim(), null);

async function withoutParts(response: IncomingMessage, onPart: (bytes: Buffer) => void): Promise<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of response as AsyncIterable<Buffer>)
    rest = takeOutputParts(Buffer.concat([rest, chunk]), onPart);
  return rest;
}

/** The environment variables that hooks read, encoded for headers, without those whose names suggest a secret. */
const passedVariables = (env: Env): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    /^(HOPGATE|CLAUDE|CODEX)_/.test(name) && !/TOKEN|KEY|SECRET|PASSWORD/.test(name) && value !== undefined
      ? [encodeHeader(`${name}=${value}`)]
      : [],
  );
