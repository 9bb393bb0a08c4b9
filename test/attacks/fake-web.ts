import http from 'node:http';
import { gzipSync } from 'node:zlib';
import type { FetchNetwork } from '../../src/tools/web/fetch-checked-url.ts';
import { isPublicAddress } from '../../src/tools/web/public-address.ts';

/** The loopback address of the public host; every other private address stays unreachable. */
const HOST = '127.0.0.77';

/** A web in this process: one listed host that answers, and names that resolve to forbidden addresses. */
export async function fakeWeb() {
  let reachedOutside = 0;
  const inner = http.createServer((_, response) => {
    reachedOutside += 1;
    response.end('internal');
  });
  const server = http.createServer((request, response) => {
    const port = (server.address() as { port: number }).port;
    const to: { readonly [path: string]: string } = {
      '/to-self': '/page',
      '/to-loopback': `http://127.0.0.1:${port}/page`,
      '/to-metadata': 'http://169.254.169.254/latest/meta-data/',
      '/to-unlisted': `http://other.example.com:${port}/page`,
      '/to-file': 'file:///etc/passwd',
      '/to-user': `http://docs.example.com@127.0.0.1:${port}/`,
      '/to-rebound': `http://rebound.example.com:${port}/page`,
      '/forever': '/forever',
    };
    const location = to[request.url ?? ''];
    if (location !== undefined) {
      response.writeHead(302, { location }).end();
      return;
    }
    if (request.url === '/endless') {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      response.once('close', () => response.removeAllListeners('drain'));
      more();
      return;
    }
    if (request.url === '/costly') {
      // a numeral of a million letters for each item
      const page = `<ol type="i" start="999999999">${'<li>x'.repeat(100_000)}`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
      return;
    }
    if (request.url === '/packed') {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(200 << 20)));
      return;
    }
    if (request.url === '/untyped') {
      response.writeHead(200).end('of no type');
      return;
    }
    if (request.url === '/binary') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.from([0, 1, 2]));
      return;
    }
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<title>Page</title><h1>Hello</h1><script>bad()</script><p>${request.method} ${request.url}</p>`);
  });
  const listen = (what: http.Server, port: number, host: string) =>
    new Promise<void>((resolve, reject) => what.once('error', reject).listen(port, host, () => resolve()));
  await listen(server, 0, HOST);
  const { port } = server.address() as { port: number };
  await listen(inner, port, '127.0.0.1');
  const addresses: { readonly [host: string]: readonly string[] } = {
    'docs.example.com': [HOST],
    'a.sub.example.com': [HOST],
    'sub.example.com': [HOST],
    'other.example.com': [HOST],
    'rebound.example.com': ['127.0.0.1'],
    'both.example.com': [HOST, '127.0.0.1'],
    'metadata.example.com': ['169.254.169.254'],
    'mapped.example.com': ['::ffff:127.0.0.1'],
    'six.example.com': ['::1'],
    'zero.example.com': ['0.0.0.0'],
    'tenner.example.com': ['10.0.0.1'],
  };
  const network: FetchNetwork = {
    resolve: async (host) => addresses[host] ?? [],
    mayReach: (address) => address === HOST || isPublicAddress(address),
  };
  const listed = ['docs', 'rebound', 'both', 'metadata', 'mapped', 'six', 'zero', 'tenner', '*.sub'];
  return {
    network,
    allow: [
      ...listed.map((name) => `${name}.example.com:${port}`),
      'docs.example.com',
      `127.0.0.1:${port}`,
      'localhost',
    ],
    fill: (args: unknown): unknown => JSON.parse(JSON.stringify(args ?? null).replaceAll('{WEB}', `${port}`)),
    reachedOutside: () => reachedOutside,
    close() {
      for (const one of [server, inner]) {
        one.closeAllConnections();
        one.close();
      }
    },
  };
}
