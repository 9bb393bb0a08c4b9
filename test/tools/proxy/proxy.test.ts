import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { makeProxy } from '../../../src/tools/proxy/proxy.ts';
import { CERTIFICATE, KEY } from '../web/certificate.ts';

async function listening<T extends Server>(server: T): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy on a port of its own; names resolve to the given addresses, in turn. */
async function proxied(hosts: readonly string[], answers: readonly (readonly string[])[] = []) {
  let asked = 0;
  const proxy = makeProxy(hosts, async () => answers[Math.min(asked++, answers.length - 1)] ?? []);
  onTestFinished(() => proxy.close());
  const port = await listening(createServer((socket) => proxy.accept(socket)));
  return { proxy, port, asked: () => asked };
}

/** Sends bytes and returns the answer, to its end. */
async function talk(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

/** A tunnel to a place; the status of the proxy's answer comes with it. */
async function tunnel(port: number, place: string): Promise<{ readonly status: string; readonly socket: Socket }> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  return { status: `${head}`.split(' ')[1]!, socket };
}

async function secureServer(): Promise<{ readonly port: number; readonly names: string[] }> {
  const names: string[] = [];
  const server = tls.createServer({ cert: CERTIFICATE, key: KEY }, (socket) => {
    names.push(`${socket.servername}`);
    socket.on('error', () => {}).end('secure\n');
  });
  return { port: await listening(server), names };
}

test('a name is resolved once, so a later answer has no effect', async () => {
  const target = await listening(createServer((socket) => socket.end('target')));
  const hosts = [`a.example:${target}`, `127.0.0.1:${target}`];
  const { port, asked } = await proxied(hosts, [['127.0.0.1'], ['127.0.0.2']]);
  expect((await tunnel(port, `a.example:${target}`)).status).toBe('200');
  expect((await tunnel(port, `a.example:${target}`)).status).toBe('200');
  expect(asked()).toBe(1);
});

test('a name that is not listed is not resolved', async () => {
  const { port, proxy, asked } = await proxied(['a.example'], [['1.1.1.1']]);
  expect((await tunnel(port, 'data.evil.example:443')).status).toBe('403');
  expect(asked()).toBe(0);
  expect(proxy.tried()).toEqual([{ place: 'data.evil.example:443', tries: 1, why: 'it is not a listed host' }]);
});

test.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fe80::1', '0.0.0.0', '100.64.0.1'])(
  'a listed name that leads to %s is refused',
  async (address) => {
    const { port } = await proxied(['a.example'], [['1.1.1.1', address]]);
    expect((await tunnel(port, 'a.example:443')).status).toBe('403');
  },
);

test('TLS may ask only for the host of its tunnel', async () => {
  const { port: target, names } = await secureServer();
  const hosts = [`docs.example.com:${target}`, `127.0.0.1:${target}`];
  const { port, proxy } = await proxied(hosts, [['127.0.0.1']]);
  const ask = async (servername: string) => {
    const { socket } = await tunnel(port, `docs.example.com:${target}`);
    const secure = tls.connect({ socket, servername, rejectUnauthorized: false });
    let answer = '';
    try {
      for await (const chunk of secure) answer += chunk;
    } catch {
      // cut off
    }
    return answer;
  };
  expect(await ask('docs.example.com')).toBe('secure\n');
  expect(await ask('evil.example')).toBe('');
  expect(names).toEqual(['docs.example.com']);
  expect(proxy.tried().at(-1)).toEqual({
    place: `evil.example:${target}`,
    tries: 1,
    why: 'TLS asked for it on a connection to docs.example.com',
  });
});

/** The first bytes that a TLS client sends. */
async function clientHello(servername: string): Promise<Buffer> {
  const server = createServer();
  const port = await listening(server);
  tls.connect({ port, host: '127.0.0.1', servername }).on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return bytes;
}

test.each([1, 3, 7, 60])('a hello that comes in pieces of %i bytes is read as one', async (size) => {
  let received = 0;
  const target = await listening(createServer((socket) => socket.on('data', ({ length }) => (received += length))));
  const hosts = [`docs.example.com:${target}`, `127.0.0.1:${target}`];
  const { port, proxy } = await proxied(hosts, [['127.0.0.1']]);
  const { socket } = await tunnel(port, `docs.example.com:${target}`);
  const hello = await clientHello('evil.example');
  for (let at = 0; at < hello.length && !socket.destroyed; at += size)
    await new Promise((sent) => socket.write(hello.subarray(at, at + size), sent));
  if (!socket.closed) await once(socket, 'close');
  expect(received).toBe(0);
  expect(proxy.tried().at(-1)?.place).toBe(`evil.example:${target}`);
});

test('a hello that is split over records is refused, because its name could hide', async () => {
  let received = 0;
  const target = await listening(createServer((socket) => socket.on('data', ({ length }) => (received += length))));
  const { port } = await proxied([`docs.example.com:${target}`, `127.0.0.1:${target}`], [['127.0.0.1']]);
  const { socket } = await tunnel(port, `docs.example.com:${target}`);
  const hello = (await clientHello('evil.example')).subarray(5);
  const record = (part: Buffer) => Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part]);
  socket.write(Buffer.concat([record(hello.subarray(0, 40)), record(hello.subarray(40))]));
  await once(socket, 'close');
  expect(received).toBe(0);
});

test('a request goes to the host of its address, whatever its header says', async () => {
  const seen: string[] = [];
  const target = await listening(
    createServer((socket) =>
      socket.once('data', (bytes) => {
        seen.push(`${bytes}`);
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
      }),
    ),
  );
  const { port } = await proxied([`127.0.0.1:${target}`]);
  const head = `GET http://127.0.0.1:${target}/x HTTP/1.1\r\nHost: evil.example\r\nConnection: close, X-Hidden\r\n`;
  expect(await talk(port, `${head}X-Hidden: 1\r\nProxy-Authorization: x\r\nX-Kept: 1\r\n\r\n`)).toContain('ok');
  expect(seen[0]).toMatch(/^GET \/x HTTP\/1\.1\r\n/);
  expect(seen[0]!.toLowerCase()).toContain(`host: 127.0.0.1:${target}`);
  expect(seen[0]).toContain('X-Kept'.toLowerCase());
  expect(seen[0]!.toLowerCase()).not.toMatch(/evil|hidden|proxy-/);
});

test.each([
  ['two lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n'],
  ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n'],
  ['a folded header', 'X: a\r\n b\r\n'],
  ['a bare line feed', 'X: a\nGET http://evil.example/ HTTP/1.1\n'],
])('a request with %s reaches nobody', async (_, headers) => {
  const seen: string[] = [];
  const target = await listening(createServer((socket) => socket.on('data', (bytes) => seen.push(`${bytes}`))));
  const { port } = await proxied([`127.0.0.1:${target}`]);
  await talk(port, `POST http://127.0.0.1:${target}/ HTTP/1.1\r\nHost: x\r\n${headers}\r\nabcd`).catch(() => '');
  expect(seen.join('')).not.toMatch(/evil|Content-Length: 4[\s\S]*Transfer-Encoding/i);
});

test('a body passes in both directions', async () => {
  const target = await listening(http.createServer((request, response) => request.pipe(response)));
  const { port } = await proxied([`127.0.0.1:${target}`]);
  const body = 'x'.repeat(300_000);
  const head = `PUT http://127.0.0.1:${target}/ HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  expect((await talk(port, `${head}${body}`)).replace(/[^x]/g, '').length).toBeGreaterThanOrEqual(body.length);
});

test('places beyond a limit are not listed', async () => {
  const { port, proxy } = await proxied(['a.example']);
  for (let at = 0; at < 130; at++) (await tunnel(port, `h${at}.example:443`)).socket.destroy();
  expect(proxy.tried()).toHaveLength(100);
});
