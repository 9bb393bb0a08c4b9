import { once } from 'node:events';
import { readFileSync, renameSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createConnection, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BrowserLogins } from '../../src/server/access/logins.ts';
import { ROLES_WITH_TOKEN_FILE, roleTokenFile } from '../../src/server/access/tokens.ts';
import { MAX_REQUEST_BODY } from '../../src/server/create-app.ts';
import { ROUTES } from '../../src/server/routes.ts';
import { makeWorld } from '../daemon/daemon-fixture.ts';
import { isDeep, sample } from '../depth.ts';
import { send, serveWorld } from './serve-world.ts';

/** The address of a route with its path filled in. */
const addressOf = (at: string, session: string): string =>
  at
    .replace('{session}', session)
    .replace('{approval}', 'abc234')
    .replace('{entry}', 'e-1')
    .replace('{hash}', 'a'.repeat(64));

const PRIVATE = ROUTES.filter((route) => route.for !== 'public');

describe('a token', () => {
  it('lies in a file that only its user can read, outside of the root', async () => {
    const served = await serveWorld();
    for (const role of ROLES_WITH_TOKEN_FILE) {
      const file = roleTokenFile(served.env, role);
      expect(file.startsWith(served.root)).toBe(false);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    }
  });

  it('is needed for everything that is not public, and is read only from its header', async () => {
    const served = await serveWorld();
    const { id } = await served.session();
    for (const { method, at, id: name } of PRIVATE) {
      const body = method === 'POST' ? { body: {} } : {};
      const address = `${method} ${addressOf(at, id)}`;
      const without = await served.ask(address, { token: null, ...body });
      expect(without.status, name).toBe(401);
      const inUrl = await served.ask(`${address}?token=${served.operator}&access_token=${served.operator}`, {
        token: null,
        ...body,
      });
      expect(inUrl.status, name).toBe(401);
      const wrong = ['', served.operator.slice(0, -1), `${served.operator}0`, 'x', served.operator.toUpperCase()];
      for (const token of sample(wrong, 3))
        expect((await served.ask(address, { token, ...body })).status, `${name} ${token}`).toBe(401);
    }
  });

  it('may follow the name of its scheme in any letter case, as HTTP defines it', async () => {
    const served = await serveWorld();
    const ask = (authorization: string) => served.ask('GET /v1/sessions', { token: null, headers: { authorization } });
    expect((await ask(`bearer ${served.operator}`)).status).toBe(200);
    expect((await ask(`basic ${served.operator}`)).status).toBe(401);
  });

  it('opens exactly the routes of its role', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const tokens = { operator: served.operator, auditor: served.auditor, agent: served.agent, session: token };
    for (const route of PRIVATE) {
      if (route.answer instanceof Object && 'type' in route.answer && route.answer.type === 'text/event-stream')
        continue;
      for (const [role, given] of Object.entries(tokens)) {
        if (route.for.includes(role as 'agent')) continue;
        const answer = await served.ask(`${route.method} ${addressOf(route.at, id)}`, {
          token: given,
          ...(route.method === 'POST' ? { body: {} } : {}),
        });
        expect(answer.status, `${role} ${route.id}`).toBe(403);
        expect(answer.json.error.remedy).not.toBe('');
      }
    }
    const writes = PRIVATE.filter(({ method, id: name }) => method === 'POST' && name !== 'why');
    expect(writes.filter((route) => route.for.includes('auditor')).map((route) => route.id)).toEqual([]);
    expect(PRIVATE.find((route) => route.id === 'answerApproval')?.for).toEqual(['operator']);
  });

  it("of one session's agent reaches no other session", async () => {
    const served = await serveWorld();
    const [mine, other] = [await served.session(), await served.session()];
    const ofSessions = PRIVATE.filter(({ at }) => at.includes('{session}'));
    expect(ofSessions.length).toBeGreaterThan(15);
    for (const { method, at, id } of ofSessions) {
      const body = method === 'POST' ? { body: {} } : {};
      const answer = await served.ask(`${method} ${addressOf(at, other.id)}`, { token: mine.token, ...body });
      expect(answer.status, id).toBe(403);
    }
    const forged = `${mine.token.split('.')[0]!.replace(/[^-]*$/, Buffer.from(other.id).toString('base64url'))}.${mine.token.split('.')[1]}`;
    expect((await served.ask(`GET /v1/sessions/${other.id}`, { token: forged })).status).toBe(401);
    const before = (await served.ask(`GET /v1/sessions/${other.id}/evidence`)).json.entries.length;
    expect(before).toBe(2);
  });

  it('of an agent never makes a request in the operator’s name', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    for (const [what, body] of [
      ['stop', { reason: 'x', by: 'operator' }],
      ['mode', { to: 'discuss', reset: true, by: 'operator' }],
      ['hop', { to: 'reflect', reason: 'x', by: 'operator' }],
      ['close', { by: 'operator' }],
      ['start', { peripheral: 'explore', by: 'operator' }],
    ] as const) {
      const answer = await served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
      expect(answer.status, what).toBe(403);
      expect(answer.json.error.path).toBe('body.by');
    }
    const { json } = await served.ask(`GET /v1/sessions/${id}/evidence`);
    expect(json.entries.some(({ body }: { body: { by?: string } }) => body.by === 'operator')).toBe(false);
  });
});

describe('a page of another origin', () => {
  it.each([
    ['a name that was bound to this address', { host: 'evil.example:PORT' }, 421],
    ['the right name with another port', { host: '127.0.0.1:1' }, 421],
    ['the right name without a port', { host: '127.0.0.1' }, 421],
    ['another address of this machine', { host: '0.0.0.0:PORT' }, 421],
    ['the IPv6 address', { host: '[::1]:PORT' }, 421],
    ['a name that ends with a dot', { host: 'localhost.:PORT' }, 421],
    ['its origin', { origin: 'https://evil.example' }, 403],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 403],
    ['the other name of this machine', { origin: 'http://localhost:PORT' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['the https form of the origin', { origin: 'https://127.0.0.1:PORT' }, 403],
    ['a cross-site request', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a request of another port', { 'sec-fetch-site': 'same-site' }, 403],
  ])('is refused by %s, with and without a token', async (_name, headers, status) => {
    const served = await serveWorld();
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', `${served.port}`)]),
    );
    for (const what of ['GET /v1/health', 'GET /v1/sessions', 'GET /', 'GET /v1/openapi.json'])
      for (const token of [null, served.operator]) {
        const answer = await served.ask(what, { token, headers: given });
        expect(answer.status, what).toBe(status);
        expect(answer.text).not.toContain('hopgate-');
      }
  });

  it('cannot send a form, and is never allowed by CORS', async () => {
    const served = await serveWorld();
    const { page, cookie } = await login(served);
    const form = { 'content-type': 'text/plain', cookie, origin: `http://127.0.0.1:${served.port}` };
    const sent = await served.ask('POST /v1/sessions', {
      token: null,
      headers: { ...form, 'x-hopgate-page': page },
      body: '{}',
    });
    expect(sent.json.error).toMatchObject({ code: 'invalid-request', path: 'body' });
    const preflight = await served.ask('OPTIONS /v1/sessions', {
      token: null,
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(403);
    for (const answer of [sent, preflight])
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const entered = await served.ask('POST /v1/logout', { headers: { 'sec-fetch-site': 'none' }, body: {} });
    expect(entered.status).toBe(403);
  });
});

async function login(served: Awaited<ReturnType<typeof serveWorld>>) {
  const answer = await served.ask('POST /v1/login', { token: null, body: { code: served.http.issueCode() } });
  const set = String(answer.headers['set-cookie']);
  return { page: answer.json.page as string, set, cookie: set.split(';')[0]! };
}

describe('a login', () => {
  it('is a cookie that no script reads and a key that no browser sends by itself, and neither is enough alone', async () => {
    const served = await serveWorld();
    const { page, cookie, set } = await login(served);
    expect(set).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    const as = (headers: { [name: string]: string }) => served.ask('GET /v1/whoami', { token: null, headers });
    expect((await as({ cookie, 'x-hopgate-page': page })).json).toMatchObject({ role: 'operator' });
    expect((await as({ cookie })).status).toBe(401);
    expect((await as({ 'x-hopgate-page': page })).status).toBe(401);
    const other = await login(served);
    expect((await as({ cookie, 'x-hopgate-page': other.page })).status).toBe(401);
    const out = await served.ask('POST /v1/logout', {
      token: null,
      headers: { cookie, 'x-hopgate-page': page },
      body: {},
    });
    expect(out.status).toBe(200);
    expect((await as({ cookie, 'x-hopgate-page': page })).status).toBe(401);
    expect((await as({ cookie: other.cookie, 'x-hopgate-page': other.page })).status).toBe(200);
  });

  it('begins with a code that works once, for a minute', async () => {
    const served = await serveWorld();
    const code = served.http.issueCode();
    const enter = () => served.ask('POST /v1/login', { token: null, body: { code } });
    expect((await enter()).status).toBe(200);
    expect((await enter()).json.error.code).toBe('login-failed');
    let now = 0;
    const logins = new BrowserLogins(() => now);
    const late = logins.issueCode();
    now = 60_000;
    expect(logins.begin(late)).toBeNull();
    expect(logins.begin(logins.issueCode(), 'forged')!.cookie).not.toBe('forged');
    const begun = logins.begin(logins.issueCode())!;
    expect(logins.holds(begun.cookie, begun.page)).toBe(true);
    now += 12 * 60 * 60_000;
    expect(logins.holds(begun.cookie, begun.page)).toBe(false);
  });
});

describe('every answer', () => {
  it('keeps a browser from running, framing or storing it', async () => {
    const served = await serveWorld();
    for (const what of ['GET /v1/health', 'GET /nowhere', 'GET /v1/sessions']) {
      const { headers } = await served.ask(what, { token: what === 'GET /v1/sessions' ? null : served.operator });
      expect(headers['content-security-policy']).toContain(
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'self'; frame-ancestors 'none'",
      );
      expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    }
  });
});

describe('the limits', () => {
  it('of the HTTP server refuse a body that is too large, whether its header says so or not', async () => {
    const served = await serveWorld();
    const { id } = await served.session();
    const body = JSON.stringify({ tool: 'read', args: 'x'.repeat(MAX_REQUEST_BODY) });
    const answer = await served.ask(`POST /v1/sessions/${id}/why`, { body });
    expect(answer.json.error.code).toBe('body-too-large');
    const socket = createConnection({ port: served.port, host: '127.0.0.1' });
    served.later(() => socket.destroy());
    let text = '';
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const lines = [
      `POST /v1/sessions/${id}/why HTTP/1.1`,
      `Host: 127.0.0.1:${served.port}`,
      `Authorization: Bearer ${served.operator}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    await new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('data', () => text.includes('body-too-large') && resolve());
      const more = () => {
        if (!socket.destroyed && !text.includes('body-too-large')) socket.write(chunk, more);
      };
      more();
    });
    expect(text).toMatch(/413|^$/);
    expect((await served.ask('GET /v1/health')).status).toBe(200);
  });

  it('of the HTTP server close the connection of a refused body, which no other request then uses', async () => {
    const served = await serveWorld();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    served.later(() => agent.destroy());
    const status = (method: string, bytes: number) =>
      new Promise((resolve, reject) => {
        const asked = request({ agent, port: served.port, method, path: '/v1/health' }, (answer) => {
          answer.resume().on('end', () => resolve([answer.statusCode, answer.headers.connection]));
        });
        asked.on('error', reject).end(Buffer.alloc(bytes));
      });
    const healthy = [200, 'keep-alive'];
    expect(await status('GET', 0)).toEqual(healthy);
    for (const bytes of [1 << 20, MAX_REQUEST_BODY + 1]) {
      expect(await status('POST', bytes)).toEqual([bytes > MAX_REQUEST_BODY ? 413 : 404, 'close']);
      for (let i = 0; i < 3; i++) expect(await status('GET', 0)).toEqual(healthy);
    }
  });

  it.skipIf(!isDeep)('of the HTTP server end requests that arrive too slowly', async () => {
    const served = await serveWorld();
    const socket = createConnection({ port: served.port, host: '127.0.0.1' });
    served.later(() => socket.destroy());
    socket.on('error', () => {});
    socket.write(`GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\n`);
    const more = setInterval(() => socket.write('X-More: more\r\n'), 500);
    served.later(() => clearInterval(more));
    const begun = Date.now();
    socket.resume();
    // A reset by the server ends the connection, too; `once` of node:events would throw for it.
    await new Promise((closed) => socket.once('close', closed));
    clearInterval(more);
    // Ten seconds and one check, with room for a busy machine. Node's own check comes after 30 seconds.
    expect(Date.now() - begun).toBeLessThan(25_000);
    expect((await served.ask('GET /v1/health')).status).toBe(200);
  });

  it.runIf(isDeep)('of the HTTP server refuse more streams than they allow, and count those that ended', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const streams = () =>
      served.ask('GET /v1/metrics').then(({ text }) => Number(/hopgate_streams (\d+)/.exec(text)?.[1]));
    const open = (token: string) => {
      const socket = createConnection({ port: served.port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.write(
        `GET /v1/sessions/${id}/events HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
      return new Promise<{ socket: Socket; status: string }>((resolve) =>
        socket.once('data', (data) => resolve({ socket, status: String(data).slice(9, 12) })),
      );
    };
    const isRefused = ({ status }: { status: string }) => status === '429';
    for (const [asked, refused, holder] of [
      [20, 4, token],
      [260, 4, served.operator],
    ] as const) {
      const opened = await Promise.all(Array.from({ length: asked }, () => open(holder)));
      expect(opened.filter(isRefused)).toHaveLength(refused);
      for (const { socket } of opened) socket.destroy();
      while ((await streams()) > 0);
    }
    expect(await streams()).toBe(0);
  });
});

it('a session’s name never becomes the path of a file', async () => {
  const served = await serveWorld();
  for (const name of ['..%2f..%2foperator.token', '%00', '__proto__', 'constructor', '%2e%2e', 'a'.repeat(301)]) {
    const answer = await send(served.port, `GET /v1/sessions/${name}`, { token: served.operator });
    expect([400, 404], name).toContain(answer.status);
  }
});

describe('a server on a unix socket', () => {
  it('replaces the socket of a killed process, but no file and no socket that answers', async () => {
    const { root, later } = makeWorld({ 'notes.txt': 'mine' });
    const at = (name: string) => ({ listen: { socket: join(root, name) } });
    await expect(serveWorld({}, at('notes.txt'))).rejects.toThrow('EADDRINUSE');
    expect(readFileSync(join(root, 'notes.txt'), 'utf8')).toBe('mine');
    const other = createServer().listen(join(root, 'other'));
    later(() => void other.close());
    await once(other, 'listening');
    await expect(serveWorld({}, at('other'))).rejects.toThrow('EADDRINUSE');
    // The socket of a closed server stays under another name, as that of a killed one does.
    renameSync(join(root, 'other'), join(root, 'dead'));
    await new Promise((resolve) => other.close(resolve));
    expect((await serveWorld({}, at('dead'))).http.address).toBe(`unix:${join(root, 'dead')}`);
  });
});
