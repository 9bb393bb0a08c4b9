import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveReviewDocument } from '../../src/agency/par/serve-document.ts';
import { serveWorld as serveHousehold } from '../../src/world/serve/world-server.ts';
import { folder } from '../agency/agency-nodes.ts';
import { serveWorld } from './serve-world.ts';

/** Each server that speaks WebSocket, by the function that starts it and returns its port. */
const SERVERS = {
  'hopgate serve': async () => (await serveWorld()).port,
  'hopgate world': async () => {
    const server = await serveHousehold({ choice: { seed: 1 }, port: 0 });
    onTestFinished(() => server.close());
    return Number(new URL(server.address).port);
  },
  'the document of a review': async () => {
    const file = join(folder(), 'par.db');
    const server = await serveReviewDocument({ file, name: 'd', host: '127.0.0.1', port: null, admits: () => false });
    onTestFinished(() => server.close());
    return server.port;
  },
};

/** Asks for another protocol than WebSocket, as the HTTP client of Java does by default. */
async function askForHttp2(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`);
  return socket;
}

describe.each(Object.entries(SERVERS))('%s, asked for another protocol than WebSocket,', (_, serve) => {
  it('refuses, continues after a reset, and closes the connection of a client that keeps it', async () => {
    const port = await serve();
    for (let count = 0; count < 3; count++) (await askForHttp2(port)).resetAndDestroy();
    const kept = await askForHttp2(port);
    expect(String((await once(kept, 'data'))[0])).toMatch(/^HTTP\/1\.1 4\d\d /);
    await once(kept.resume(), 'end');
    const isClosed = new Promise((resolve) => kept.once('close', () => resolve('closed')));
    // A reset of the server is seen when this side writes.
    const timer = setInterval(() => kept.write('x'), 50);
    onTestFinished(() => clearInterval(timer));
    expect(await isClosed).toBe('closed');
  });
});
