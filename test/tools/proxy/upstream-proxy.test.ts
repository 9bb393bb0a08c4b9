import { once } from 'node:events';
import http from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import tls from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { makeFilteringProxy } from '../../../src/tools/proxy/filtering-proxy.ts';
import { findUpstreamProxy } from '../../../src/tools/proxy/upstream-proxy.ts';
import { CERTIFICATE, KEY } from '../web/certificate.ts';
import { companyProxy, listening } from './company-proxy.ts';

/** hopgate's proxy in an environment; names resolve by the table, all others do not. */
async function proxied(
  hosts: readonly string[],
  env: NodeJS.ProcessEnv,
  table: { readonly [name: string]: string } = {},
) {
  const resolve = async (name: string) => {
    if (table[name] === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    return [table[name]];
  };
  const proxy = makeFilteringProxy(hosts, { env, resolve });
  onTestFinished(() => proxy.close());
  return { proxy, port: await listening(createServer((socket) => proxy.accept(socket))) };
}

/** A tunnel to a place; the proxy's answer comes with it. */
async function tunnel(port: number, place: string): Promise<{ readonly answer: string; readonly socket: Socket }> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  return { answer: `${head}`, socket };
}

const secureServer = () =>
  listening(
    tls.createServer({ cert: CERTIFICATE, key: KEY }, (socket) => socket.on('error', () => {}).end('secure\n')),
  );

test('a listed host that only the upstream proxy can resolve is reached through that proxy, with the proxy’s login', async () => {
  const company = await companyProxy(await secureServer());
  const env = { HTTPS_PROXY: `http://me:p%40ss@127.0.0.1:${company.port}` };
  const { port, proxy } = await proxied(['docs.example.com'], env);
  const { answer, socket } = await tunnel(port, 'docs.example.com:443');
  expect(answer).toMatch(/^HTTP\/1.1 200/);
  const secure = tls.connect({ socket, servername: 'docs.example.com', rejectUnauthorized: false });
  expect(`${((await once(secure, 'data')) as [Buffer])[0]}`).toBe('secure\n');
  const login = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  expect(company.asked).toEqual([{ line: 'CONNECT docs.example.com:443', login }]);
  expect(proxy.tried()).toEqual([{ target: 'docs.example.com:443', tries: 1, why: null }]);
});

test('an upstream proxy gets no request for an unlisted host', async () => {
  const company = await companyProxy(await secureServer());
  const { port } = await proxied(['docs.example.com'], { https_proxy: `127.0.0.1:${company.port}` });
  expect((await tunnel(port, 'data.evil.example:443')).answer).toMatch(/403[\s\S]*not in the list of allowed hosts/);
  expect(company.asked).toEqual([]);
});

test('a TLS client in a tunnel through the upstream proxy may name only the host of the tunnel', async () => {
  const company = await companyProxy(await secureServer());
  const { port, proxy } = await proxied(['docs.example.com'], { https_proxy: `127.0.0.1:${company.port}` });
  const { socket } = await tunnel(port, 'docs.example.com:443');
  const secure = tls.connect({ socket, servername: 'evil.example', rejectUnauthorized: false }).on('error', () => {});
  await new Promise((done) => secure.once('close', done));
  expect(proxy.tried().at(-1)).toMatchObject({
    target: 'evil.example:443',
    why: expect.stringContaining('TLS requested'),
  });
});

test('a name that leads to a private address here is refused before the upstream proxy is asked', async () => {
  const company = await companyProxy(await secureServer());
  const env = { https_proxy: `127.0.0.1:${company.port}` };
  const { port } = await proxied(['inner.example'], env, { 'inner.example': '10.0.0.9' });
  expect((await tunnel(port, 'inner.example:443')).answer).toMatch(
    /403[\s\S]*10\.0\.0\.9, which is not a public address/,
  );
  expect(company.asked).toEqual([]);
});

test('if an upstream proxy refuses, the message names the proxy without its password', async () => {
  const company = await companyProxy(0, 407);
  const { port } = await proxied(['docs.example.com'], { https_proxy: `http://me:secret@127.0.0.1:${company.port}` });
  const { answer } = await tunnel(port, 'docs.example.com:443');
  expect(answer).toMatch(/^HTTP\/1.1 502/);
  expect(answer).toContain(`the proxy 127.0.0.1:${company.port} answered 407 for docs.example.com:443`);
  expect(answer).not.toContain('secret');
});

test('if an upstream proxy does not answer, the message names the proxy', async () => {
  const { port } = await proxied(['docs.example.com'], { https_proxy: 'http://me:secret@127.0.0.1:1' });
  const { answer } = await tunnel(port, 'docs.example.com:443');
  expect(answer).toMatch(/^HTTP\/1.1 502[\s\S]*the proxy 127\.0\.0\.1:1 cannot be reached/);
  expect(answer).not.toContain('secret');
});

test('plain HTTP goes to the upstream proxy as well', async () => {
  const target = await listening(http.createServer((request, response) => response.end(`path ${request.url}`)));
  const company = await companyProxy(target);
  const { port } = await proxied(['plain.example'], { http_proxy: `http://127.0.0.1:${company.port}` });
  const [response] = (await once(
    http.request({ host: '127.0.0.1', port, path: 'http://plain.example/a?b=1' }).end(),
    'response',
  )) as [http.IncomingMessage];
  expect(`${(await response.toArray()).join('')}`).toBe('path /a');
  expect(company.asked.map(({ line }) => line)).toEqual(['GET http://plain.example/a?b=1']);
});

test('a host in no_proxy is reached directly', async () => {
  const target = await secureServer();
  const company = await companyProxy(target);
  const env = { https_proxy: `127.0.0.1:${company.port}`, no_proxy: 'a.example' };
  const { port } = await proxied([`a.example:${target}`, `127.0.0.1:${target}`], env, { 'a.example': '127.0.0.1' });
  expect((await tunnel(port, `a.example:${target}`)).answer).toMatch(/200/);
  expect(company.asked).toEqual([]);
});

test.each([
  ['', 'b.example', true],
  ['*', 'b.example', false],
  ['a.example', 'b.example', true],
  ['b.example', 'b.example', false],
  ['.b.example', 'x.b.example', false],
  ['b.example', 'x.b.example', false],
  ['*.b.example', 'x.b.example', false],
  ['b.example', 'xb.example', true],
  ['b.example:443', 'b.example', false],
  ['b.example:444', 'b.example', true],
  ['a.example, b.example', 'b.example', false],
  ['10.0.0.0/8', '10.2.3.4', false],
  ['10.0.0.0/8', '11.2.3.4', true],
  ['10.0.0.0/99', '10.2.3.4', true],
  ['fd00::/8', 'fd00::1', false],
  ['B.Example', 'b.example', false],
])('with no_proxy "%s", the use of the proxy for %s is %s', (list, host, isThrough) => {
  const found = findUpstreamProxy({ https_proxy: 'http://p.example:3128', no_proxy: list }, 'https', {
    host,
    port: 443,
  });
  expect(found !== null).toBe(isThrough);
});

test.each([
  [{ all_proxy: 'http://p.example' }, 'p.example'],
  [{ ALL_PROXY: 'http://p.example' }, 'p.example'],
  [{ HTTPS_PROXY: 'p.example:8080' }, 'p.example:8080'],
  [{ http_proxy: 'http://p.example' }, undefined],
  [{ https_proxy: '' }, undefined],
])('the environment %j names the proxy: %s', (env, host) => {
  const found = findUpstreamProxy(env, 'https', { host: 'b.example', port: 443 });
  expect(found && 'url' in found ? found.url.host : undefined).toBe(host);
});

test('a SOCKS proxy is not used, and the message says so', async () => {
  const { port } = await proxied(['docs.example.com'], { all_proxy: 'socks5://me:secret@127.0.0.1:1080' });
  const { answer } = await tunnel(port, 'docs.example.com:443');
  expect(answer).toMatch(/403[\s\S]*is a SOCKS proxy.*NO_PROXY/);
  expect(answer).not.toContain('secret');
});
