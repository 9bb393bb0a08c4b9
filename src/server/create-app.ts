import { type HttpBindings, upgradeWebSocket } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie } from 'hono/cookie';
import type { z } from 'zod';
import { parseJsonMessage } from '../base/json.ts';
import { errorText } from '../base/text.ts';
import { checkRequestOrigin } from './access/check-origin.ts';
import { LOGIN_COOKIE, PAGE_KEY_HEADER } from './access/login-names.ts';
import type { Requester } from './access/tokens.ts';
import { ApiError, toApiError } from './api-error.ts';
import { type HttpRoute, isStreamedAnswer } from './http-route.ts';
import type { ServerServices } from './services.ts';
import { sendEventsToSocket } from './stream/send-events.ts';

/** Maximum size of a request's body, in bytes. */
export const MAX_REQUEST_BODY = 4 << 20;

/**
 * Headers of every response. The Content-Security-Policy allows no script, style, image or connection from elsewhere,
 * no frame around a page, and no text as code. Responses with evidence have it too, so that a browser shows an opened
 * entry as text.
 */
const SECURITY_HEADERS: { readonly [name: string]: string } = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

interface AppOptions {
  readonly services: ServerServices;
  readonly routes: readonly HttpRoute[];
  /** The server's names with the port, which is known only after listening; null allows any name, but no browser. */
  readonly hosts: () => readonly string[] | null;
  readonly log: (line: string) => void;
}

/** The HTTP application: checks access, then the schemas of the request, then runs the route. */
export function createHttpApp(options: AppOptions): Hono {
  const { services, routes, hosts, log } = options;
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.res.headers.set(name, value);
    // Node closes the connection if the rest of the body does not arrive soon, so no other request may use it.
    if ((c.env as Partial<HttpBindings> | undefined)?.incoming?.complete === false)
      c.res.headers.set('Connection', 'close');
    const key = `${c.req.method} ${c.res.status}`;
    services.counters.requests.set(key, (services.counters.requests.get(key) ?? 0) + 1);
  });
  app.use(async (c, next) => {
    const { req } = c;
    checkRequestOrigin(hosts(), {
      host: req.header('host'),
      origin: req.header('origin'),
      site: req.header('sec-fetch-site'),
      method: req.method,
      visits:
        req.method === 'GET' &&
        req.path === '/' &&
        req.header('sec-fetch-mode') === 'navigate' &&
        req.header('sec-fetch-dest') === 'document',
    });
    if (services.ending.aborted)
      throw new ApiError('finishing', 'this server is shutting down', 'Start it again, then retry.');
    await next();
  });
  const tooLarge = () => {
    throw new ApiError('body-too-large', `the body is larger than ${MAX_REQUEST_BODY} bytes`, 'Send a smaller body.');
  };
  app.use(bodyLimit({ maxSize: MAX_REQUEST_BODY, onError: tooLarge }));
  for (const route of routes) mountRoute(app, route, options);
  app.notFound(({ req: { method, path } }) =>
    answerWith(new ApiError('not-found', `the server has no ${method} ${path}`, 'Read GET /v1/openapi.json.')),
  );
  app.onError((error, c) => {
    const known = toApiError(error);
    if (known) return answerWith(known);
    log(`${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
    return answerWith(new ApiError('failed', 'hopgate failed', 'Read the log of the daemon.'));
  });
  return app;
}

const answerWith = (error: ApiError): Response => Response.json(error, { status: error.status });

function mountRoute(app: Hono, route: HttpRoute, { services, log }: AppOptions): void {
  const pattern = route.at.replaceAll(/\{(\w+)\}/g, ':$1');
  if (isStreamedAnswer(route.answer) && route.answer.type === 'websocket') {
    app.get(
      pattern,
      upgradeWebSocket(async (c) => {
        const gone = new AbortController();
        const request = await routeRequest(c, route, services, gone.signal);
        const answer = (await route.run(request)) as ConnectionHandlers | Parameters<typeof sendEventsToSocket>[0];
        if ('onMessage' in answer) return socketHandlers(answer);
        const batches = answer;
        return {
          onOpen: (_event, socket) =>
            void sendEventsToSocket(batches, socket)
              .catch((error) => {
                log(`${c.req.path}: ${errorText(error)}`);
                socket.close(1011, 'hopgate failed');
              })
              .finally(() => gone.abort()),
          onClose: () => gone.abort(),
          onError: () => gone.abort(),
        };
      }),
    );
    return;
  }
  app.on(route.method, pattern, async (c) => {
    const request = await routeRequest(c, route, services, c.req.raw.signal).catch(async (error: unknown) => {
      const isBody = error instanceof ApiError && error.path?.split('.')[0] === 'body';
      if (!isBody || !route.badBody) throw error;
      return route.badBody(error, await c.req.text());
    });
    const answer = request instanceof Response ? request : await route.run(request);
    if (answer instanceof Response) return answer;
    return c.json(answer as object, route.status);
  });
}

/** A connection on which both sides can send. */
interface ConnectionHandlers {
  readonly onOpen: (line: Connection) => void;
  readonly onMessage: (text: string) => void;
  readonly onClose: (line: Connection) => void;
}
type Connection = { send(text: string): void; close(code?: number): void };

function socketHandlers({ onOpen, onMessage, onClose }: ConnectionHandlers) {
  let line: Connection | null = null;
  return {
    onOpen(_event: unknown, socket: Connection) {
      line = { send: (text) => socket.send(text), close: (code) => socket.close(code) };
      onOpen(line);
    },
    onMessage: ({ data }: { readonly data: unknown }) => onMessage(String(data)),
    onClose: () => line && onClose(line),
    onError: () => line && onClose(line),
  };
}

/** Checks the sender and the parts of a request. @throws ApiError */
async function routeRequest(c: Context, route: HttpRoute, services: ServerServices, gone: AbortSignal) {
  const who = requesterOf(c, services);
  if (!who && route.for !== 'public')
    throw c.req.header(PAGE_KEY_HEADER) === undefined
      ? new ApiError(
          'not-authenticated',
          'this address needs a token',
          'Send "Authorization: Bearer TOKEN"; "hopgate serve" prints where the tokens are.',
        )
      : new ApiError('not-authenticated', 'the login of this page has ended', 'Run "hopgate serve --open" again.');
  const path = parsePart(route.path, c.req.param(), 'path');
  checkAccess(route, who, path);
  const query = parsePart(route.query, c.req.query(), 'query');
  const body = route.body ? parsePart(route.body, await jsonOf(c), 'body') : undefined;
  const request = {
    who: who ?? { role: 'agent' as const },
    path,
    query,
    body,
    services,
    signal: AbortSignal.any([gone, services.ending]),
    header: (name: string) => c.req.header(name),
  };
  return request as Parameters<HttpRoute['run']>[0];
}

/** The holder of the token or the login; null without either. A wrong token is never ignored. */
function requesterOf(c: Context, { tokens, logins }: ServerServices): Requester | null {
  const header = c.req.header('authorization');
  if (header !== undefined) {
    const who = tokens.holder(/^Bearer +(\S+)$/i.exec(header)?.[1] ?? '');
    if (who) return who;
    throw new ApiError('not-authenticated', 'the token is wrong', 'Send "Authorization: Bearer TOKEN".');
  }
  const [cookie, page] = [getCookie(c, LOGIN_COOKIE), c.req.header(PAGE_KEY_HEADER)];
  return cookie !== undefined && page !== undefined && logins.holds(cookie, page) ? { role: 'operator' } : null;
}

function checkAccess({ for: roles, at }: HttpRoute, who: Requester | null, path: unknown): void {
  if (roles === 'public' || !who) return;
  if (!roles.includes(who.role))
    throw new ApiError(
      'forbidden',
      `the ${who.role} may not use ${at}`,
      who.role === 'agent'
        ? 'Open a session with POST /v1/sessions, and use the token of its answer.'
        : `Only these may: ${roles.join(', ')}.`,
    );
  const { session } = (path ?? {}) as { readonly session?: string };
  // If only the body names a session, the route checks it.
  if (who.role === 'session' && at.includes('{session}') && session !== who.session)
    throw new ApiError('forbidden', 'this token is for another session', `Use it for session ${who.session} only.`);
}

async function jsonOf(c: Context): Promise<unknown> {
  const text = await c.req.text();
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/json\b/i.test(type))
    throw new ApiError('invalid-request', 'the body must be JSON', 'Send "Content-Type: application/json".', 'body');
  const value = parseJsonMessage(text);
  if (value !== undefined) return value;
  throw new ApiError(
    'invalid-request',
    'the body is not JSON, or is nested deeper than 200 levels',
    'Send one JSON document.',
    'body',
  );
}

function parsePart(schema: z.ZodType | undefined, value: unknown, part: string): unknown {
  if (!schema) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const path = [part, ...issue.path].join('.');
  throw new ApiError('invalid-request', `${path}: ${issue.message}`, 'Read GET /v1/openapi.json.', path);
}
