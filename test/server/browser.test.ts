import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDeep } from '../depth.ts';
import { type Served, send, serveWorld } from './serve-world.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

/** A page elsewhere. It records the cookies that a browser sends to it. */
async function elsewhere(served: Served) {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    if (request.headers.cookie) cookies.push(request.headers.cookie);
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title><p>hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  served.later(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve(null));
        server.closeAllConnections();
      }),
  );
  return { cookies, port: (server.address() as AddressInfo).port };
}

/** Attacks by a script of another page. Each returns the text that it could read, or null. */
const ATTACKS: { readonly [name: string]: string } = {
  'fetch with credentials': `fetch(at + '/v1/sessions', { credentials: 'include' }).then((r) => r.text())`,
  'fetch without CORS': `fetch(at + '/v1/sessions', { mode: 'no-cors', credentials: 'include' }).then((r) => r.text())`,
  'fetch with a header': `fetch(at + '/v1/sessions', { headers: { 'X-Hopgate-Page': 'x' }, credentials: 'include' }).then((r) => r.text())`,
  'a POST of JSON': `fetch(yes, { method: 'POST', body, headers: { 'Content-Type': 'application/json' }, credentials: 'include' }).then((r) => r.text())`,
  'a POST of plain text': `fetch(yes, { method: 'POST', body, mode: 'no-cors', credentials: 'include' }).then((r) => r.text())`,
  'a POST of a form': `fetch(yes, { method: 'POST', body: new URLSearchParams({ verdict: 'yes' }), mode: 'no-cors', credentials: 'include' }).then((r) => r.text())`,
  'a beacon': `Promise.resolve(navigator.sendBeacon(yes, body) ? null : null)`,
  XMLHttpRequest: `new Promise((ok) => { const r = new XMLHttpRequest(); r.withCredentials = true; r.onload = () => ok(r.responseText); r.onerror = () => ok(null); r.open('GET', at + '/v1/approvals'); r.send(); })`,
  EventSource: `new Promise((ok) => { const s = new EventSource(at + '/v1/events', { withCredentials: true }); s.onopen = () => ok('open'); s.onerror = () => { s.close(); ok(null); }; })`,
  WebSocket: `new Promise((ok) => { const s = new WebSocket(at.replace('http', 'ws') + '/v1/socket'); s.onopen = () => ok('open'); s.onerror = () => ok(null); })`,
  'a script': `new Promise((ok) => { const s = document.createElement('script'); s.src = at + '/v1/sessions'; s.onload = () => ok('loaded'); s.onerror = () => ok(null); document.head.append(s); })`,
  'an image': `new Promise((ok) => { const s = new Image(); s.src = at + '/v1/health'; s.onload = () => ok('loaded'); s.onerror = () => ok(null); })`,
  'a style': `new Promise((ok) => { const s = document.createElement('link'); s.rel = 'stylesheet'; s.href = at + '/v1/sessions'; s.onload = () => ok('loaded'); s.onerror = () => ok(null); document.head.append(s); })`,
  'a frame': `new Promise((ok) => { const f = document.createElement('iframe'); f.src = at + '/v1/health'; f.onload = () => { try { ok(f.contentDocument && f.contentDocument.body.innerText || null); } catch { ok(null); } }; document.body.append(f); })`,
  'a form in a frame': `new Promise((ok) => { const f = document.createElement('iframe'); f.name = 'f'; document.body.append(f); const form = document.createElement('form'); form.method = 'POST'; form.enctype = 'text/plain'; form.action = yes; form.target = 'f'; const i = document.createElement('input'); i.name = body.slice(0, -1) + ',"x":"'; i.value = '"}'; form.append(i); document.body.append(form); f.onload = () => { try { ok(f.contentDocument.body.innerText || null); } catch { ok(null); } }; form.submit(); setTimeout(() => ok(null), 500); })`,
  'a window': `new Promise((ok) => { const w = open(at + '/v1/sessions'); setTimeout(() => { try { ok(w.document.body.innerText || null); } catch { ok(null); } }, 300); })`,
  'a worker': `new Promise((ok) => { try { const w = new Worker(at + '/v1/health'); w.onerror = () => ok(null); setTimeout(() => ok(null), 300); } catch { ok(null); } })`,
  'the cache': `caches ? caches.open('x').then((c) => c.add(at + '/v1/sessions')).then(() => 'stored') : null`,
};

// test/server/security.test.ts sends such requests without a browser in `npm test`.
describe.runIf(isDeep && CHROMIUM !== undefined)(
  'a browser in which the operator is logged in (skipped without Chromium: apt-get install chromium)',
  () => {
    let browser: Browser;
    beforeAll(async () => {
      const args = ['--no-sandbox', '--host-resolver-rules=MAP evil.test 127.0.0.1'];
      browser = await chromium.launch({ executablePath: CHROMIUM!, args });
    });
    afterAll(() => browser?.close());

    /** A server with a request that waits, and a page of it in which the operator is logged in. */
    async function loggedIn() {
      const served = await serveWorld();
      const { id, token } = await served.session();
      const mode = (to: string) => served.ask(`POST /v1/sessions/${id}/mode`, { token, body: { to } });
      await mode('diagnose');
      await mode('execute');
      const [waiting] = (await served.ask('GET /v1/approvals')).json.approvals;
      const context = await browser.newContext();
      served.later(() => context.close());
      const own = await context.newPage();
      const at = `http://127.0.0.1:${served.port}`;
      await own.goto(`${at}/v1/health`);
      const key = await own.evaluate(async (code) => {
        const headers = { 'Content-Type': 'application/json' };
        const answer = await fetch('/v1/login', { method: 'POST', headers, body: JSON.stringify({ code }) });
        return ((await answer.json()) as { page: string }).page;
      }, served.http.issueCode());
      const whoami = (page: Page) =>
        page.evaluate(async (page) => (await fetch('/v1/whoami', { headers: { 'X-Hopgate-Page': page } })).text(), key);
      expect(await whoami(own)).toContain('operator');
      return { served, context, own, at, waiting, whoami };
    }

    const evilOf = async (page: Page, at: string, waiting: { id: string; hash: string }) => {
      const body = JSON.stringify({ verdict: 'yes', hash: waiting.hash });
      const read: { [name: string]: string } = {};
      for (const [name, attack] of Object.entries(ATTACKS)) {
        const run = `((at, yes, body) => Promise.resolve(${attack}).catch(() => null))(${JSON.stringify(at)}, ${JSON.stringify(`${at}/v1/approvals/${waiting.id}`)}, ${JSON.stringify(body)})`;
        const text = await page.evaluate<string | null>(run).catch(() => null);
        if (text !== null && text !== '') read[name] = text;
      }
      return read;
    };

    it('reveals nothing to a page of another port, host or name, and approves nothing for such a page', async () => {
      const { served, context, at, waiting } = await loggedIn();
      const { port, cookies } = await elsewhere(served);
      for (const host of ['127.0.0.1', 'evil.test', 'localhost']) {
        const origin = `http://${host}:${port}`;
        const page = await context.newPage();
        await page.goto(origin);
        expect(await evilOf(page, at, waiting), origin).toEqual({});
        await page.close();
      }
      // The browser sends the cookie also to another port of this host: alone it must prove nothing.
      expect(cookies.some((cookie) => cookie.startsWith('hopgate='))).toBe(true);
      for (const what of ['GET /v1/sessions', 'GET /v1/approvals', `GET /v1/approvals/${waiting.id}`]) {
        const headers = { cookie: cookies[0]!, origin: at, 'sec-fetch-site': 'same-origin' };
        expect((await send(served.port, what, { headers })).status).toBe(401);
      }
      const [still] = (await served.ask('GET /v1/approvals')).json.approvals;
      expect(still).toMatchObject({ id: waiting.id, answer: null });
    });

    it('reveals nothing to a foreign name that resolves to the server’s address', async () => {
      const { served, context, waiting } = await loggedIn();
      const page = await context.newPage();
      const answer = await page.goto(`http://evil.test:${served.port}/v1/health`);
      expect(answer?.status()).toBe(421);
      const read = await evilOf(page, `http://evil.test:${served.port}`, waiting);
      expect(Object.values(read).filter((text) => !/wrong-host/.test(text))).toEqual([]);
      expect((await served.ask('GET /v1/approvals')).json.approvals[0].answer).toBeNull();
    });

    it('opens the page from a private file, and nothing else', async () => {
      const { served, context, at } = await loggedIn();
      const page = await context.newPage();
      const file = join(dirname(served.root), 'open.html');
      const lead = (to: string) => writeFileSync(file, `<meta http-equiv="refresh" content="0; url=${to}">`);
      const visit = async (to: string) => {
        lead(to);
        const answered = page.waitForResponse((response) => response.url() === to.split('#')[0]);
        // The next navigation may begin before this one has ended.
        await page.goto(`file://${file}`, { waitUntil: 'commit' }).catch(() => {});
        return (await answered).status();
      };
      expect(await visit(`${at}/#code=x`)).toBe(200);
      expect(await visit(`${at}/v1/health`)).toBe(403);
    });

    it('runs no text of an agent, whatever it looks like', async () => {
      const { served, own, at } = await loggedIn();
      const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
      const { id } = await served.session();
      await served.ask(`POST /v1/sessions/${id}/step`, { body: { tool: evil, args: { path: evil } } });
      await own.goto(`${at}/v1/sessions/${encodeURIComponent(evil)}`);
      expect(await own.evaluate('window.hacked ?? null')).toBeNull();
      await own.goto(`${at}/v1/health`);
      const escaped = await own.evaluate(
        `(() => { try { document.body.innerHTML = '<img src=x>'; return 'set'; } catch (error) { return String(error); } })()`,
      );
      expect(escaped).toContain('TrustedHTML');
    });
  },
);
