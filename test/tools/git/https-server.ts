import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, KEY } from './certificate.ts';

interface GitServer {
  /** `https://localhost:PORT`. */
  readonly origin: string;
  /** The certificate to trust. */
  readonly ca: string;
  /** The received `Authorization` headers, in order; null for a request without one. */
  readonly authorizations: readonly (string | null)[];
}

interface ServerOptions {
  /** The password that the server demands; none if omitted. */
  readonly password?: string;
  /** Demands the password only for a push, as a public repository does. */
  readonly publicToRead?: boolean;
  /** Answers instead of git. */
  readonly instead?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** git's own HTTP server behind node's, for the repositories in `folder`. */
export async function serveRepositories(folder: string, options: ServerOptions = {}): Promise<GitServer> {
  const authorizations: (string | null)[] = [];
  const server = https.createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    authorizations.push(request.headers.authorization ?? null);
    if (options.instead?.(request, response)) return;
    if (mayPass(request, options)) toGit(folder, request, response);
    else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end('who are you?\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const ca = join(folder, 'ca.crt');
  writeFileSync(ca, CERTIFICATE);
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, ca, authorizations };
}

function mayPass({ url = '', headers }: IncomingMessage, { password, publicToRead }: ServerOptions): boolean {
  if (password === undefined || (publicToRead && !url.includes('receive-pack'))) return true;
  const given = Buffer.from(headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
  return given.slice(given.indexOf(':') + 1) === password;
}

function toGit(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url!, 'https://x');
  const env = {
    PATH: process.env['PATH'],
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: pathname,
    QUERY_STRING: searchParams.toString(),
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    HTTP_AUTHORIZATION: request.headers.authorization ?? '',
    REMOTE_USER: 'pusher',
  };
  const backend = spawn('git', ['http-backend'], { env });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk) => chunks.push(chunk));
  backend.on('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const headers = answer
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string]);
    response.statusCode = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
    for (const [name, value] of headers) if (name !== 'Status') response.setHeader(name, value);
    response.end(answer.subarray(end + 4));
  });
}
