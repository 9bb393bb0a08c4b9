import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Listens on the loopback address until the test ends; returns the port. */
export async function listening<T extends Server>(server: T): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/**
 * A company's proxy: it knows names that nobody else resolves, and leads each of them to one port here.
 *
 * @param login the header without which it opens no tunnel
 */
export async function companyProxy(target: number, status = 200, login: string | null = null) {
  const asked: { readonly line: string; readonly login: string | undefined }[] = [];
  const server = http.createServer((request, response) => {
    asked.push({ line: `${request.method} ${request.url}`, login: request.headers['proxy-authorization'] });
    const { pathname } = new URL(request.url!);
    request.pipe(
      http.request({ port: target, host: '127.0.0.1', path: pathname, method: request.method! }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  server.on('connect', (request, socket) => {
    asked.push({ line: `CONNECT ${request.url}`, login: request.headers['proxy-authorization'] });
    if (login !== null && request.headers['proxy-authorization'] !== login)
      return socket.end(
        'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="x"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
      );
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const remote = connect(target, '127.0.0.1');
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    remote.pipe(socket).pipe(remote);
    remote.on('error', () => socket.destroy());
    socket.on('error', () => remote.destroy());
  });
  return { port: await listening(server), asked };
}
