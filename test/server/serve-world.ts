import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { roleTokenFile } from '../../src/server/access/tokens.ts';
import { isStreamedAnswer } from '../../src/server/http-route.ts';
import { type HttpServer, type HttpServerOptions, openHttpServer } from '../../src/server/http-server.ts';
import { AGENCY_ROUTES } from '../../src/server/routes/agency.ts';
import { ROUTES } from '../../src/server/routes.ts';
import { makeWorld, type World } from '../daemon/daemon-fixture.ts';

const asClientReads = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Every answer of a server in these tests must fit the schema that the API's description shows. */
for (const route of new Set([...ROUTES, ...AGENCY_ROUTES])) {
  const { answer: schema, run } = route;
  if (!isStreamedAnswer(schema))
    Object.assign(route, {
      async run(request: Parameters<typeof run>[0]) {
        const answer = await run(request);
        if (!(answer instanceof Response)) expect(asClientReads(schema.parse(answer))).toEqual(asClientReads(answer));
        return answer;
      },
    });
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  readonly json: any;
}

export interface Ask {
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

/** A server on a repository of its own; it ends with the test. */
export interface Served extends World {
  readonly http: HttpServer;
  readonly port: number;
  readonly operator: string;
  readonly auditor: string;
  readonly agent: string;
  /** `ask('POST /v1/sessions', { body })`; by default as the operator. */
  ask(what: string, options?: Ask): Promise<Answer>;
  /** Opens a session in explore and returns its id and its token. */
  session(): Promise<{ readonly id: string; readonly token: string }>;
}

/** Sends a request with exactly these headers; fetch would add its own. */
export function send(port: number, what: string, { token = null, body, headers = {} }: Ask): Promise<Answer> {
  const [method, path] = what.split(' ') as [string, string];
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      method,
      path,
      agent: false,
      headers: {
        host: `127.0.0.1:${port}`,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let all = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (all += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: all,
          json: isJson ? JSON.parse(all) : null,
        });
      });
    });
    request.end(text);
  });
}

export async function serveWorld(
  files: { readonly [path: string]: string } = {},
  options: Partial<HttpServerOptions> = {},
): Promise<Served> {
  const world = makeWorld(files);
  const host = world.host({ keepOpenMs: 2_000 });
  const http = await openHttpServer(host, { env: world.env, listen: { port: 0 }, ...options });
  world.later(() => http.close());
  const port = Number(/:(\d+)$/.exec(http.address)?.[1] ?? 0);
  const tokenOf = (role: 'operator' | 'auditor' | 'agent') =>
    readFileSync(roleTokenFile(world.env, role), 'utf8').trim();
  const [operator, auditor, agent] = [tokenOf('operator'), tokenOf('auditor'), tokenOf('agent')];
  const ask = (what: string, asked: Ask = {}): Promise<Answer> => send(port, what, { token: operator, ...asked });
  return {
    ...world,
    http,
    port,
    operator,
    auditor,
    agent,
    ask,
    async session() {
      const { json } = await ask('POST /v1/sessions', {
        token: agent,
        body: { root: world.root, agent: 'builder', peripheral: 'explore' },
      });
      return { id: json.session, token: json.token };
    },
  };
}

/** Waits until `look` returns true. */
export async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await look())) await sleep(10);
}
