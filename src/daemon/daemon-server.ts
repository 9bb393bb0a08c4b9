import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { errorText } from '../base/text.ts';
import type { Env } from '../base/user-folders.ts';
import { answerStatusLine } from './answer-status-line.ts';
import type { CallingProcess } from './conversations/session-host-options.ts';
import { executeRunTicket, type OnOutput, type RunTicketOutput } from './execute-run-ticket.ts';
import { decodeHeader } from './header-text.ts';
import { encodeAnswerFrame, encodeOutputPart } from './hook/answer-frame.ts';
import { answerHook, type HOOK_HANDLERS } from './hook/answer-hook.ts';
import type { SessionHost } from './session-host.ts';
import { carryOutSessionRequest } from './session-request.ts';

/** Maximum size of a request, in bytes. */
const MAX_REQUEST = 32 << 20;
/** How long a request may take to arrive, in milliseconds. */
const ARRIVAL_MS = 5_000;

interface DaemonServerOptions {
  readonly host: SessionHost;
  readonly token: string;
  /** True if the daemon's installation was replaced or removed. The next request then makes the daemon finish. */
  readonly isReplaced: () => boolean;
  readonly log: (line: string) => void;
  /** Called when the daemon must finish: its installation was replaced, or a client asked it to stop. */
  readonly onFinish: () => void;
  /** Additional fields for `status`. */
  readonly about: () => { readonly [name: string]: unknown };
  readonly handlers?: typeof HOOK_HANDLERS;
}

/** The daemon's server: HTTP over a unix socket, for this user's own processes. */
export class DaemonServer {
  readonly http: Server;
  readonly #parts: DaemonServerOptions;
  #runningRequests = 0;
  #lastUsed = Date.now();
  #finishing = false;

  constructor(parts: DaemonServerOptions) {
    this.#parts = parts;
    this.http = createServer({ requestTimeout: ARRIVAL_MS, headersTimeout: ARRIVAL_MS, keepAliveTimeout: 60_000 });
    this.http.on('request', (request, response) => void this.#serve(request, response));
    this.http.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Milliseconds since the last request; 0 while a request is running. */
  get idleMs(): number {
    return this.#runningRequests > 0 ? 0 : Date.now() - this.#lastUsed;
  }

  /** Accepts no more requests. Resolves when the running requests are answered. */
  async finish(): Promise<void> {
    this.#finishing = true;
    await new Promise<void>((resolve) => {
      this.http.close(() => resolve());
      this.http.closeIdleConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#runningRequests++;
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    try {
      await this.#answer(request, response, gone.signal);
    } catch (error) {
      this.#parts.log(`${request.url}: ${errorText(error)}`);
      if (response.headersSent) response.destroy();
      else send(response, 500, 'text/plain', 'the daemon failed');
    } finally {
      this.#runningRequests--;
      // Requests of status lines do not count, because they come all the time and would keep the daemon running.
      if (!request.url?.startsWith('/line/')) this.#lastUsed = Date.now();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, gone: AbortSignal): Promise<void> {
    const { host, onFinish } = this.#parts;
    if (!this.#isAuthorised(request)) return send(response, 403, 'text/plain', 'the token is wrong');
    // A name may contain slashes: the name of a status line is a folder.
    const [, kind = '', name = ''] = (/^\/([^/]*)(?:\/(.*))?$/.exec(request.url ?? '') ?? []).map((part) =>
      decodeHeader(part ?? ''),
    );
    if (this.#finishing || (kind !== 'stop' && this.#parts.isReplaced())) {
      response.on('finish', onFinish);
      return send(response, 503, 'text/plain', 'this daemon is finishing');
    }
    const body = await readBody(request);
    if (body === null) return send(response, 413, 'text/plain', 'the request is too large');
    const caller = callerOf(request);
    switch (`${request.method} ${kind}`) {
      case 'POST hook': {
        const { handlers } = this.#parts;
        const answer = await answerHook(name, body, caller.env, host.hookContext(caller), handlers ? { handlers } : {});
        return sendFramed(response, answer);
      }
      case 'POST run':
        return sendRun(response, (onPart) => executeRunTicket(host, name, gone, onPart));
      case 'POST line': {
        const cwd = decodeHeader(request.headersDistinct['x-hopgate-cwd']?.[0] ?? '/');
        const line = { folder: name, input: body, env: caller.env, cwd };
        return sendFramed(response, await answerStatusLine(line, (query) => host.status(query)));
      }
      case 'POST agent':
        return sendJson(response, await carryOutSessionRequest(host, caller, JSON.parse(body), gone));
      case 'GET status':
        return sendJson(response, {
          ...this.#parts.about(),
          atWork: this.#runningRequests - 1,
          sessions: host.openSessions.held,
        });
      case 'POST stop':
        response.on('finish', onFinish);
        return sendJson(response, { ok: true });
      default:
        return send(response, 404, 'text/plain', 'there is no such request');
    }
  }

  #isAuthorised({ headers }: IncomingMessage): boolean {
    const actual = Buffer.from(headers.authorization ?? '');
    const expected = Buffer.from(`Bearer ${this.#parts.token}`);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }
}

function callerOf({ headersDistinct }: IncomingMessage): CallingProcess {
  const env: { [name: string]: string } = {};
  for (const pair of headersDistinct['x-hopgate-env'] ?? []) {
    const [, name, value] = /^((?:HOPGATE|CLAUDE|CODEX)_[^=]*)=(.+)$/s.exec(decodeHeader(pair)) ?? [];
    if (name !== undefined && value !== undefined) env[name] = value;
  }
  const pid = Number(headersDistinct['x-hopgate-pid']?.[0] ?? Number.NaN);
  return { env: env as Env, pid: Number.isInteger(pid) && pid > 1 ? pid : null };
}

/** Returns null if the body is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const sendFramed = (response: ServerResponse, answer: Parameters<typeof encodeAnswerFrame>[0]): void =>
  send(response, 200, 'application/octet-stream', encodeAnswerFrame(answer));

/** The output of a background command is sent in parts, before the frame. */
async function sendRun(response: ServerResponse, run: (onPart: OnOutput) => Promise<RunTicketOutput>): Promise<void> {
  const answer = await run((text) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/octet-stream' });
    response.write(encodeOutputPart(text));
  });
  if (response.headersSent) response.end(encodeAnswerFrame(answer));
  else sendFramed(response, answer);
}

const sendJson = (response: ServerResponse, value: unknown): void =>
  send(response, 200, 'application/json', JSON.stringify(value));

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
