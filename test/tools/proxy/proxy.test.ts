import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { makeFilteringProxy } from '../../../src/tools/proxy/filtering-proxy.ts';
import { CERTIFICATE, KEY } from '../web/certificate.ts';

async function listening<T extends Server>(server: T): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy on a port of its own; names resolve to the given addresses, in turn. */
async function proxied(
  hosts: readonly string[],
  answers: readonly (readonly string[])[] = [],
  env: NodeJS.ProcessEnv = {},
) {
  let asked = 0;
  const proxy = makeFilteringProxy(hosts, {
    env,
    resolve: async () => answers[Math.min(asked++, answers.length - 1)] ?? [],
  });
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

/** Resolves when a socket is closed, also by a reset. `once` would throw then. */
const untilClosed = (socket: Socket) =>
  socket.closed ? undefined : new Promise((closed) => socket.once('close', closed));

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

test('an unlisted name is not resolved', async () => {
  const { port, proxy, asked } = await proxied(['a.example'], [['1.1.1.1']]);
  expect((await tunnel(port, 'data.evil.example:443')).status).toBe('403');
  expect(asked()).toBe(0);
  expect(proxy.tried()).toEqual([
    { target: 'data.evil.example:443', tries: 1, why: 'the host is not in the list of allowed hosts' },
  ]);
});

test.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fe80::1', '0.0.0.0', '100.64.0.1'])(
  'a listed name that resolves to %s is refused',
  async (address) => {
    const { port } = await proxied(['a.example'], [['1.1.1.1', address]]);
    expect((await tunnel(port, 'a.example:443')).status).toBe('403');
  },
);

test('a TLS client in a tunnel may name only the host of the tunnel', async () => {
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
    target: `evil.example:${target}`,
    tries: 1,
    why: 'TLS requested it on a connection to docs.example.com',
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

test.each([1, 3, 7, 60])('a TLS hello in pieces of %i bytes is read as one', async (size) => {
  let received = 0;
  const target = await listening(createServer((socket) => socket.on('data', ({ length }) => (received += length))));
  const hosts = [`docs.example.com:${target}`, `127.0.0.1:${target}`];
  const { port, proxy } = await proxied(hosts, [['127.0.0.1']]);
  const { socket } = await tunnel(port, `docs.example.com:${target}`);
  const hello = await clientHello('evil.example');
  for (let at = 0; at < hello.length && !socket.destroyed; at += size)
    await new Promise((sent) => socket.write(hello.subarray(at, at + size), sent));
  await untilClosed(socket);
  expect(received).toBe(0);
  expect(proxy.tried().at(-1)?.target).toBe(`evil.example:${target}`);
});

const record = (part: Buffer, type = 22) =>
  Buffer.concat([Buffer.from([type, 3, 1, part.length >> 8, part.length & 255]), part]);

/** A TLS hello with further names after the first: in the same list, or in a second list. */
async function helloWith(more: (list: Buffer) => Buffer): Promise<Buffer> {
  const hello = (await clientHello('docs.example.com')).subarray(5);
  const at = hello.indexOf('docs.example.com') - 9;
  const end = at + 4 + hello.readUInt16BE(at + 2);
  const name = Buffer.from('\0\0\x0cevil.example', 'latin1');
  const changed = Buffer.concat([
    hello.subarray(0, at),
    more(Buffer.concat([hello.subarray(at, end), name])),
    hello.subarray(end),
  ]);
  const added = changed.length - hello.length;
  changed.writeUIntBE(hello.readUIntBE(1, 3) + added, 1, 3);
  // The length of all extensions.
  let extensions = 38;
  for (const width of [1, 2, 1]) extensions += width + changed.readUIntBE(extensions, width);
  changed.writeUInt16BE(changed.readUInt16BE(extensions) + added, extensions);
  return record(changed);
}

test.each([
  [
    'that is split over records',
    async () => {
      const hello = (await clientHello('evil.example')).subarray(5);
      return Buffer.concat([record(hello.subarray(0, 40)), record(hello.subarray(40))]);
    },
  ],
  ['after a warning', async () => Buffer.concat([record(Buffer.from([1, 90]), 21), await clientHello('evil.example')])],
  [
    'with a second name',
    () =>
      helloWith((list) => {
        list.writeUInt16BE(list.length - 4, 2);
        list.writeUInt16BE(list.length - 6, 4);
        return list;
      }),
  ],
  [
    'with a second list of names',
    () =>
      helloWith((list) =>
        Buffer.concat([list.subarray(0, -15), Buffer.from([0, 0, 0, 17, 0, 15]), list.subarray(-15)]),
      ),
  ],
])('a TLS hello %s is refused, because its name could be hidden', async (_, bytes) => {
  let received = 0;
  const target = await listening(createServer((socket) => socket.on('data', ({ length }) => (received += length))));
  const { port } = await proxied([`docs.example.com:${target}`, `127.0.0.1:${target}`], [['127.0.0.1']]);
  const { socket } = await tunnel(port, `docs.example.com:${target}`);
  socket.write(await bytes());
  await untilClosed(socket);
  expect(received).toBe(0);
});

test('a request goes to the host of its address, whatever its Host header says', async () => {
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
])('a request with %s is refused', async (_, headers) => {
  const seen: string[] = [];
  const target = await listening(createServer((socket) => socket.on('data', (bytes) => seen.push(`${bytes}`))));
  const { port } = await proxied([`127.0.0.1:${target}`]);
  await talk(port, `POST http://127.0.0.1:${target}/ HTTP/1.1\r\nHost: x\r\n${headers}\r\nabcd`).catch(() => '');
  expect(seen.join('')).not.toMatch(/evil|Content-Length: 4[\s\S]*Transfer-Encoding/i);
});

test.each([
  ['in chunks', 'Transfer-Encoding: chunked', (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
  [
    'with a length that a header takes away',
    `Connection: content-length\r\nContent-Length: LENGTH`,
    (body: string) => body,
  ],
])('a body %s does not become a request of its own', async (_, headers, encoded) => {
  const body = 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n';
  for (const method of ['GET', 'DELETE', 'OPTIONS', 'POST']) {
    let seen = '';
    const target = await listening(
      createServer((socket) =>
        socket.on('data', (bytes) => {
          seen += `${bytes}`;
          if (seen.includes('evil.example')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        }),
      ),
    );
    const { port } = await proxied([`127.0.0.1:${target}`]);
    const head = `${method} http://127.0.0.1:${target}/ HTTP/1.1\r\nHost: x\r\n${headers.replace('LENGTH', `${body.length}`)}\r\n\r\n`;
    const socket = connect(port, '127.0.0.1');
    socket.write(head + encoded(body));
    await once(socket, 'data');
    socket.destroy();
    expect(seen.slice(0, seen.indexOf('\r\n\r\n'))).toMatch(/^(?:Transfer-Encoding: chunked|Content-Length: 39)$/im);
  }
});

test('a request body passes in both directions', async () => {
  const target = await listening(http.createServer((request, response) => request.pipe(response)));
  const { port } = await proxied([`127.0.0.1:${target}`]);
  const body = 'x'.repeat(300_000);
  const head = `PUT http://127.0.0.1:${target}/ HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  expect((await talk(port, `${head}${body}`)).replace(/[^x]/g, '').length).toBeGreaterThanOrEqual(body.length);
});

test('the list of refused hosts is limited', async () => {
  const { port, proxy } = await proxied(['a.example']);
  for (let at = 0; at < 130; at++) (await tunnel(port, `h${at}.example:443`)).socket.destroy();
  expect(proxy.tried()).toHaveLength(100);
});

test.each(['000 x', '101 x\r\nUpgrade: x\r\nConnection: upgrade'])(
  'an answer with the status line %j is reported as a bad gateway',
  async (status) => {
    const target = await listening(createServer((socket) => socket.end(`HTTP/1.1 ${status}\r\n\r\n`)));
    const { port } = await proxied([`127.0.0.1:${target}`]);
    const answer = await talk(port, `GET http://127.0.0.1:${target}/ HTTP/1.1\r\nConnection: close\r\nHost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 502[\s\S]*its answer has the status (0|101)/);
  },
);
