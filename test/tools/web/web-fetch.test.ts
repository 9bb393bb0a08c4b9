import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { judgeUrl } from '../../../src/gate/scope/judge-url.ts';
import type { ToolCall } from '../../../src/ports/tool-backend.ts';
import type { FetchNetwork } from '../../../src/tools/web/fetch-checked-url.ts';
import { isPublicAddress } from '../../../src/tools/web/public-address.ts';
import { webBackend } from '../../../src/tools/web/web-backend.ts';
import { companyProxy } from '../proxy/company-proxy.ts';
import { CERTIFICATE, KEY } from './certificate.ts';

interface Options {
  readonly allow: readonly string[];
  readonly seconds?: number;
  readonly outputBytes?: number;
  readonly signal?: AbortSignal;
}

function call(url: string, options: Options): ToolCall {
  const { allow, seconds = 10, outputBytes = 10_000, signal = new AbortController().signal } = options;
  return {
    tool: { id: 'web-fetch', purpose: 'fetch', effect: 'observe', parameters: [], limits: { seconds, outputBytes } },
    args: { url },
    envelope: {
      root: '/',
      peripheral: 'explore',
      scope: { read: 'root', write: [], command: 'none', url: 'allow-list' },
      readableFiles: null,
      config: {
        specs: 'default',
        scopes: {},
        test: [],
        deploy: {},
        git: null,
        web: { allow },
        mask: [],
        toolchains: [],
      },
      unsafeNoSandbox: false,
    },
    sessionId: 'session-1',
    signal,
  };
}

/** A server on the loopback address; `network` lets a test reach it under any name. */
async function serve(handler: http.RequestListener, tls = false) {
  const server = tls ? https.createServer({ cert: CERTIFICATE, key: KEY }, handler) : http.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, at: (path = '/', host = 'docs.example.com') => `${tls ? 'https' : 'http'}://${host}:${port}${path}` };
}

const local = (changes: Partial<FetchNetwork> = {}): FetchNetwork => ({
  resolve: async () => ['127.0.0.1'],
  mayReach: () => true,
  ...changes,
});
const allowed = (port: number) => [`docs.example.com:${port}`];

describe('web-fetch through the operator’s proxy', () => {
  const unknown = async (): Promise<never> => {
    throw new Error('no such name');
  };

  test.each([
    ['https', true],
    ['http', false],
  ])('gets a page over %s from a host whose name only the proxy can resolve', async (kind, tls) => {
    const { port, at } = await serve((_, response) => response.end('found'), tls);
    const company = await companyProxy(port);
    const env = { [`${kind}_proxy`]: `http://me:word@127.0.0.1:${company.port}` };
    const network = local({ env, resolve: unknown, tls: { ca: CERTIFICATE, checkServerIdentity: () => undefined } });
    const { run } = webBackend({ network });
    const { outcome, effects } = await run(call(at('/a?b'), { allow: allowed(port) }));
    expect(outcome).toMatchObject({ status: 'ok', result: { text: 'found' } });
    expect(effects).toEqual([{ path: 'docs.example.com', op: 'connect' }]);
    const place = `docs.example.com:${port}`;
    const login = `Basic ${Buffer.from('me:word').toString('base64')}`;
    expect(company.asked).toEqual([{ line: tls ? `CONNECT ${place}` : `GET http://${place}/a?b`, login }]);
    expect(JSON.stringify(outcome)).not.toContain('word');
  });

  test('reaches no private address, and uses neither a SOCKS proxy nor one for a host in no_proxy', async () => {
    const { port, at } = await serve((_, response) => response.end('direct'));
    const company = await companyProxy(port, 502);
    const http_proxy = `http://127.0.0.1:${company.port}`;
    const get = (network: Partial<FetchNetwork>) =>
      webBackend({ network: local(network) }).run(call(at(), { allow: allowed(port) }));
    expect((await get({ env: { http_proxy }, mayReach: () => false })).outcome).toMatchObject({ code: 'out-of-scope' });
    expect((await get({ env: { all_proxy: 'socks5://127.0.0.1:1' } })).outcome).toMatchObject({
      code: 'unusable-proxy',
      message: expect.stringMatching(/SOCKS.*NO_PROXY/),
    });
    expect(company.asked).toEqual([]);
    const direct = await get({ env: { http_proxy, no_proxy: 'example.com' } });
    expect(direct.outcome).toMatchObject({ status: 'ok', result: { text: 'direct' } });
    expect(company.asked).toEqual([]);
  });

  test('reports a proxy that refuses', async () => {
    const { port, at } = await serve((_, response) => response.end('x'), true);
    const company = await companyProxy(port, 407);
    const env = { https_proxy: `http://127.0.0.1:${company.port}` };
    const { outcome } = await webBackend({ network: local({ env }) }).run(call(at(), { allow: allowed(port) }));
    expect(outcome).toMatchObject({ code: 'fetch-failed', message: expect.stringContaining('answered 407') });
  });
});

describe('web-fetch', () => {
  test('shows a page as readable text', async () => {
    const seen: http.IncomingMessage[] = [];
    const { port, at } = await serve((request, response) => {
      seen.push(request);
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.setHeader('content-encoding', 'gzip');
      response.end(
        gzipSync(
          '<title>A &amp; B</title><script>evil()</script><h1>Título</h1><p>One <a href="/x">two</a></p><ul><li>three</ul>',
        ),
      );
    });
    const { outcome, effects } = await webBackend({ network: local() }).run(
      call(at('/page?q=1#part'), { allow: allowed(port) }),
    );
    expect(outcome).toEqual({
      status: 'ok',
      result: {
        url: at('/page?q=1'),
        status: 200,
        type: 'text/html; charset=utf-8',
        title: 'A & B',
        text: `Título\n\nOne two [http://docs.example.com:${port}/x]\n\n * three`,
        truncated: false,
        redirects: [],
      },
    });
    expect(effects).toEqual([{ path: 'docs.example.com', op: 'connect' }]);
    expect(seen.map(({ method, url, headers }) => [method, url, headers.host])).toEqual([
      ['GET', '/page?q=1', `docs.example.com:${port}`],
    ]);
    expect(seen[0]!.headers).not.toHaveProperty('cookie');
  });

  test('checks the certificate against the name, although it connects to an address', async () => {
    const { port, at } = await serve(
      (_, response) => response.setHeader('content-type', 'text/plain').end('safe'),
      true,
    );
    const trusting = webBackend({ network: local({ tls: { ca: CERTIFICATE } }) });
    expect((await trusting.run(call(at(), { allow: allowed(port) }))).outcome).toMatchObject({
      status: 'ok',
      result: { text: 'safe' },
    });
    const other = call(at('/', 'other.example.com'), { allow: [`other.example.com:${port}`] });
    expect((await trusting.run(other)).outcome).toMatchObject({ status: 'failed', code: 'fetch-failed' });
    const wary = webBackend({ network: local() });
    expect((await wary.run(call(at(), { allow: allowed(port) }))).outcome).toMatchObject({
      status: 'failed',
      code: 'fetch-failed',
    });
  });

  test('refuses every host if none is listed, and names the key', async () => {
    const { outcome, effects } = await webBackend().run(call('https://example.com/', { allow: [] }));
    expect(outcome).toMatchObject({
      status: 'refused',
      code: 'out-of-scope',
      remedy: expect.stringContaining('web.allow in hopgate.yaml'),
    });
    expect(effects).toEqual([]);
  });

  test('does not connect if one address of the name is not public', async () => {
    let connected = 0;
    const { port, at } = await serve((_, response) => {
      connected++;
      response.end();
    });
    for (const addresses of [
      ['127.0.0.1'],
      ['93.184.215.14', '127.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['169.254.169.254'],
    ]) {
      const network = local({ resolve: async () => addresses, mayReach: isPublicAddress });
      const { outcome, effects } = await webBackend({ network }).run(call(at(), { allow: allowed(port) }));
      expect(outcome).toMatchObject({ status: 'refused', code: 'out-of-scope' });
      expect(effects).toEqual([]);
    }
    const literal = await webBackend().run(call(`http://127.0.0.1:${port}/`, { allow: [`127.0.0.1:${port}`] }));
    expect(literal.outcome).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    const localhost = await webBackend().run(call(`http://localhost:${port}/`, { allow: [`localhost:${port}`] }));
    expect(localhost.outcome).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    expect(connected).toBe(0);
  });

  test('resolves a name once, so that a second answer cannot change the address', async () => {
    const { port, at } = await serve((_, response) => response.setHeader('content-type', 'text/plain').end('here'));
    let asked = 0;
    const network = local({ resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.99']) });
    const { outcome } = await webBackend({ network }).run(call(at(), { allow: allowed(port) }));
    expect(outcome).toMatchObject({ status: 'ok', result: { text: 'here' } });
    expect(asked).toBe(1);
  });

  test('checks every redirect: host, port, protocol and address', async () => {
    const { port, at } = await serve((request, response) => {
      const to = decodeURIComponent(request.url!.slice(2));
      response.writeHead(302, { location: to }).end();
    });
    const network = local({
      resolve: async (host) => (host === 'private.example.com' ? ['10.0.0.1'] : ['127.0.0.1']),
      mayReach: (address) => address === '127.0.0.1',
    });
    const allow = [...allowed(port), 'private.example.com'];
    const redirect = (to: string) => webBackend({ network }).run(call(at(`/?${encodeURIComponent(to)}`), { allow }));
    for (const to of [
      'https://elsewhere.example.com/',
      'http://private.example.com/',
      `http://docs.example.com:${port + 1}/`,
      'http://169.254.169.254/',
      '//evil.example.net/x',
    ])
      expect((await redirect(to)).outcome, to).toMatchObject({ status: 'refused', code: 'out-of-scope' });
    for (const to of ['file:///etc/passwd', 'data:text/plain,x', `http://user@docs.example.com:${port}/`])
      expect((await redirect(to)).outcome, to).toMatchObject({ status: 'refused', code: 'invalid-action' });
    expect((await redirect(`/?${encodeURIComponent('/?/loop')}`)).effects.length).toBeGreaterThan(1);
  });

  test('follows at most five redirects', async () => {
    const { port, at } = await serve((request, response) => {
      const left = Number(request.url!.slice(1));
      if (left > 0) response.writeHead(301, { location: `/${left - 1}` }).end();
      else response.setHeader('content-type', 'text/plain').end('there');
    });
    const run = (count: number) =>
      webBackend({ network: local() }).run(call(at(`/${count}`), { allow: allowed(port) }));
    const five = await run(5);
    expect(five.outcome).toMatchObject({
      status: 'ok',
      result: { url: at('/0'), text: 'there', redirects: [4, 3, 2, 1, 0].map((n) => at(`/${n}`)) },
    });
    expect(five.effects).toHaveLength(6);
    expect((await run(6)).outcome).toMatchObject({ status: 'failed', code: 'too-many-redirects' });
  });

  test('cuts a long answer, also one that expands when unpacked', async () => {
    const { port, at } = await serve((request, response) => {
      response.setHeader('content-type', 'text/plain');
      if (request.url === '/bomb') response.setHeader('content-encoding', 'gzip').end(gzipSync('é'.repeat(20_000_000)));
      else response.end('é'.repeat(1000));
    });
    const run = (path: string) =>
      webBackend({ network: local() }).run(call(at(path), { allow: allowed(port), outputBytes: 101 }));
    for (const path of ['/long', '/bomb'])
      expect((await run(path)).outcome).toMatchObject({
        status: 'ok',
        result: { text: 'é'.repeat(50), truncated: true },
      });
  });

  test('does not read binary content', async () => {
    const { port, at } = await serve((_, response) => response.setHeader('content-type', 'image/png').end('x'));
    expect((await webBackend({ network: local() }).run(call(at(), { allow: allowed(port) }))).outcome).toMatchObject({
      status: 'failed',
      code: 'not-text',
    });
  });

  const ANSWERS: readonly (readonly [what: string, headers: http.OutgoingHttpHeaders, body: Buffer, text: string])[] = [
    ['packed by gzip', { 'content-encoding': 'gzip' }, gzipSync('found'), 'found'],
    ['packed by brotli', { 'content-encoding': 'br' }, brotliCompressSync('found'), 'found'],
    ['packed by zlib', { 'content-encoding': 'deflate' }, deflateSync('found'), 'found'],
    ['packed without a header', { 'content-encoding': 'deflate' }, deflateRawSync('found'), 'found'],
    ['said to be packed, and empty', { 'content-encoding': 'gzip' }, Buffer.alloc(0), ''],
    ['YAML', { 'content-type': 'application/x-yaml' }, Buffer.from('a: 1'), 'a: 1'],
    ['of no declared type', { 'content-type': undefined }, Buffer.from('found'), 'found'],
    ['HTML of no declared type', { 'content-type': undefined }, Buffer.from('<!DOCTYPE html><p>found'), 'found'],
  ];
  test.each(ANSWERS)('shows an answer that is %s', async (_, headers, body, text) => {
    const { port, at } = await serve((_, response) => {
      response.setHeader('content-type', 'text/plain');
      for (const [name, value] of Object.entries(headers))
        if (value === undefined) response.removeHeader(name);
        else response.setHeader(name, value);
      response.end(body);
    });
    const { outcome } = await webBackend({ network: local() }).run(call(at(), { allow: allowed(port) }));
    expect(outcome).toMatchObject({ status: 'ok', result: { text, truncated: false } });
  });

  test('fails for bytes without a text type, and for an empty answer', async () => {
    const { port, at } = await serve((request, response) =>
      request.url === '/none' ? response.writeHead(204).end() : response.end(Buffer.from([1, 0, 2])),
    );
    const get = async (path: string) =>
      (await webBackend({ network: local() }).run(call(at(path), { allow: allowed(port) }))).outcome;
    expect(await get('/bytes')).toMatchObject({ status: 'failed', code: 'not-text' });
    expect(await get('/none')).toMatchObject({ status: 'ok', result: { status: 204, text: '' } });
  });

  test('shows the status of a missing page', async () => {
    const { port, at } = await serve((_, response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"a":1}'),
    );
    const { outcome } = await webBackend({ network: local() }).run(call(at(), { allow: allowed(port) }));
    expect(outcome).toMatchObject({ status: 'ok', result: { status: 404, text: '{"a":1}', title: null } });
  });

  test('ends if the call is aborted, and at its time limit', async () => {
    const { port, at } = await serve(() => {});
    const run = (options: Partial<Options>) =>
      webBackend({ network: local() }).run(call(at(), { allow: allowed(port), ...options }));
    expect((await run({ signal: AbortSignal.abort() })).outcome).toMatchObject({ status: 'failed', code: 'aborted' });
    expect((await run({ seconds: 0.2 })).outcome).toMatchObject({ status: 'failed', code: 'timed-out' });
  });

  test('reports a name without an address, and a host that does not answer', async () => {
    const backend = webBackend({ network: local({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) }) });
    expect(
      (await backend.run(call('https://docs.example.com/', { allow: ['docs.example.com'] }))).outcome,
    ).toMatchObject({ status: 'failed', code: 'name-not-found' });
    const { port, at } = await serve((request) => request.socket.destroy());
    expect((await webBackend({ network: local() }).run(call(at(), { allow: allowed(port) }))).outcome).toMatchObject({
      status: 'failed',
      code: 'fetch-failed',
    });
  });
});

describe('judgeUrl', () => {
  const allow = ['example.com', '*.docs.example.com', 'api.example.com:8443', 'bücher.example', '[2606:4700::1111]'];
  test.each([
    ['https://example.com', 'https://example.com/', 443],
    ['http://EXAMPLE.com:80/a/../b', 'http://example.com/b', 80],
    ['https://example.com./', 'https://example.com./', 443],
    ['https://a.docs.example.com/x#y', 'https://a.docs.example.com/x', 443],
    ['https://a.b.docs.example.com/', 'https://a.b.docs.example.com/', 443],
    ['https://api.example.com:8443/', 'https://api.example.com:8443/', 8443],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/', 443],
    ['https://[2606:4700:0::1111]/', 'https://[2606:4700::1111]/', 443],
  ])('accepts %s', (text, href, port) => {
    const verdict = judgeUrl(text, allow);
    expect(verdict).toMatchObject({ ok: true, judged: { port } });
    if (verdict.ok) expect(verdict.judged.url.href).toBe(href);
  });

  test.each([
    'https://docs.example.com/',
    'https://evildocs.example.com/',
    'https://example.com.evil.net/',
    'https://www.example.com/',
    'https://example.com:8443/',
    'https://api.example.com/',
    'https://evil.net/example.com',
    'https://evil.net/?https://example.com',
    'https://evil.net#@example.com',
  ])('refuses %s', (text) => expect(judgeUrl(text, allow)).toMatchObject({ ok: false, code: 'out-of-scope' }));

  test.each([
    'example.com',
    '/x',
    '',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:x',
    'data:text/html,x',
    'https:example.com',
    'https:/example.com/',
    'https:///example.com/',
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://@example.com/',
    'https:user@example.com/',
    'https:/user@example.com/',
    'https://example.com\0.evil.net/',
    'https://example.com/\r\nHost: evil',
    ' https://example.com/',
    'https://exam\tple.com/',
    'https:\\\\example.com\\x',
    'https://example.com:99999/',
    `https://example.com/${'x'.repeat(5000)}`,
  ])('cannot read %j', (text) => expect(judgeUrl(text, allow)).toMatchObject({ ok: false, code: 'invalid-action' }));

  test('accepts only listed hosts, whatever the text is', () => {
    const piece = fc.constantFrom(
      'https://',
      'http://',
      'example.com',
      'evil.net',
      '@',
      ':',
      '/',
      '\\',
      '#',
      '?',
      '.',
      '%2e',
      '%00',
      'docs.',
      '443',
      '8443',
      '[',
      ']',
      '127.0.0.1',
      'ｅ',
      '。',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const verdict = judgeUrl(`https://${pieces.join('')}`, allow);
        if (verdict.ok)
          expect(verdict.judged.host).toMatch(
            /^(?:example\.com|.+\.docs\.example\.com|api\.example\.com|xn--bcher-kva\.example|2606:4700::1111)$/,
          );
      }),
      { numRuns: 2000 },
    );
  });
});

describe('isPublicAddress', () => {
  test.each([
    '1.1.1.1',
    '93.184.215.14',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '192.167.1.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true));
  test.each(
    [
      '0.0.0.0',
      '0.1.2.3',
      '10.0.0.1',
      '100.64.0.1',
      '100.127.255.255',
      '127.0.0.1',
      '127.1.2.3',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.0.0.8',
      '192.168.1.1',
      '198.18.0.1',
      '224.0.0.1',
      '239.1.1.1',
      '240.0.0.1',
      '255.255.255.255',
    ].concat(
      [
        '::',
        '::1',
        '::ffff:127.0.0.1',
        '::ffff:8.8.8.8',
        '::ffff:7f00:1',
        '::127.0.0.1',
        '64:ff9b::7f00:1',
        '64:ff9b:1::1',
        '100::1',
        '2001::1',
        '2001:db8::1',
        '2002:7f00:1::',
        'fc00::1',
        'fd00:ec2::254',
        'fe80::1',
        'fec0::1',
        'ff02::1',
        '3fff::1',
        '5f00::1',
      ],
      ['fe80::1%lo', 'localhost', '', '127.1', '0x7f000001'],
    ),
  )('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));
});
