import { z } from 'zod';
import { LOGIN_COOKIE } from '../access/login-names.ts';
import { LOGIN_COOKIE_SECONDS } from '../access/logins.ts';
import { ROLES_THAT_READ_ALL, ROLES_WITH_TOKEN_FILE } from '../access/tokens.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';
import { MillisSchema } from '../schemas.ts';
import type { ServerServices } from '../services.ts';

const health = defineRoute('GET /v1/health', {
  id: 'health',
  summary: 'Confirms that the server answers, with its version.',
  for: 'public',
  answer: z.object({ ok: z.literal(true), version: z.string(), startedAt: MillisSchema }),
  run: async ({ services: { version, startedAt } }) => ({ ok: true, version, startedAt }),
});

const metrics = defineRoute('GET /v1/metrics', {
  id: 'metrics',
  summary: 'Counters since the start, in the Prometheus text format.',
  for: ROLES_THAT_READ_ALL,
  answer: { type: 'text/plain', description: 'Lines such as `hopgate_streams 2`.' },
  run: async ({ services }) =>
    new Response(metricsOf(services), { headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' } }),
});

function metricsOf({ counters, host, allEvidence, startedAt }: ServerServices): string {
  const requests = [...counters.requests].map(([key, count]) => {
    const [method, status] = key.split(' ');
    return `hopgate_requests_total{method="${method}",status="${status}"} ${count}`;
  });
  return [
    '# TYPE hopgate_requests_total counter',
    ...requests,
    '# TYPE hopgate_denials_total counter',
    `hopgate_denials_total ${counters.denials}`,
    '# TYPE hopgate_streams gauge',
    `hopgate_streams ${counters.streams}`,
    '# TYPE hopgate_open_sessions gauge',
    `hopgate_open_sessions ${host.openSessions.held.length}`,
    '# TYPE hopgate_repositories gauge',
    `hopgate_repositories ${allEvidence.repositories().length}`,
    '# TYPE hopgate_uptime_seconds gauge',
    `hopgate_uptime_seconds ${Math.round((Date.now() - startedAt) / 1000)}`,
    '# TYPE hopgate_resident_bytes gauge',
    `hopgate_resident_bytes ${process.memoryUsage.rss()}`,
    '',
  ].join('\n');
}

/** The login's cookie in a header `Cookie`; empty if it has none. */
const loginCookie = (header = ''): string => new RegExp(`(?:^|; )${LOGIN_COOKIE}=([^;]+)`).exec(header)?.[1] ?? '';

const login = defineRoute('POST /v1/login', {
  id: 'login',
  summary: 'Exchanges a one-use code for a cookie and a page key; a browser needs both.',
  for: 'public',
  body: z.strictObject({ code: z.string().max(100) }),
  answer: z.object({ page: z.string().describe('The page key, for the header X-Hopgate-Page of each request.') }),
  run: async ({ body, services: { logins }, header }) => {
    const begun = logins.begin(body.code, loginCookie(header('cookie')));
    if (!begun)
      throw new ApiError('login-failed', 'the code was used or has expired', 'Get a new one: "hopgate serve --open".');
    const cookie = `${LOGIN_COOKIE}=${begun.cookie}; Path=/; Max-Age=${LOGIN_COOKIE_SECONDS}; HttpOnly; SameSite=Strict`;
    return Response.json({ page: begun.page }, { headers: { 'Set-Cookie': cookie } });
  },
});

const code = defineRoute('POST /v1/login/code', {
  id: 'loginCode',
  summary: 'A one-use code that logs one browser in as the operator; it is valid for a minute.',
  for: ['operator'],
  answer: z.object({ code: z.string() }),
  run: async ({ services: { logins } }) => ({ code: logins.issueCode() }),
});

const logout = defineRoute('POST /v1/logout', {
  id: 'logout',
  summary: 'Ends the login of this browser.',
  for: ['operator'],
  answer: z.object({ ok: z.literal(true) }),
  run: async ({ services: { logins }, header }) => {
    logins.end(loginCookie(header('cookie')));
    const ended = `${LOGIN_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;
    return Response.json({ ok: true }, { headers: { 'Set-Cookie': ended } });
  },
});

const whoami = defineRoute('GET /v1/whoami', {
  id: 'whoami',
  summary: 'The role of the token, and its session.',
  for: [...ROLES_WITH_TOKEN_FILE, 'session'],
  answer: z.object({ role: z.enum([...ROLES_WITH_TOKEN_FILE, 'session']), session: z.string().nullable() }),
  run: async ({ who }) => ({ role: who.role, session: who.role === 'session' ? who.session : null }),
});

export const ABOUT_ROUTES: readonly HttpRoute[] = [health, metrics, login, code, logout, whoami];
