import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AlfworldClient } from '../../../src/tools/world/alfworld-client.ts';
import { OpenEnvClient } from '../../../src/tools/world/openenv-client.ts';
import { carriedObjectsAfter } from '../../../src/tools/world/world-game.ts';
import { HouseholdEnvironment } from '../../../src/world/household-environment.ts';
import { serveWorld, type WorldServer } from '../../../src/world/serve/world-server.ts';
import { describeEnvironment, type WorldUnderTest } from '../../contracts/environment.ts';
import { isDeep } from '../../depth.ts';

/** A served world that can be killed and started again at its port. */
async function served(make: (address: string) => WorldUnderTest['world'], start = serveWorld): Promise<WorldUnderTest> {
  let server: WorldServer = await start({ choice: { seed: 1 }, port: 0 });
  const port = Number(new URL(server.address).port);
  return {
    world: make(server.address),
    restart: async () => {
      await server.close();
      server = await start({ choice: { seed: 1 }, port });
    },
    cleanup: () => server.close(),
  };
}

describeEnvironment('household', async () => {
  const parts = { now: new HouseholdEnvironment({ seed: 1 }) };
  return {
    world: {
      name: 'household',
      keepsGames: true,
      reset: (choice) => parts.now.reset(choice),
      step: (command) => parts.now.step(command),
      state: () => parts.now.state(),
      close: () => parts.now.close(),
    },
    restart: async () => {
      parts.now = new HouseholdEnvironment({ seed: 1 });
    },
    cleanup: async () => {},
  };
});

describeEnvironment('ALFWorld over HTTP', () => served((address) => new AlfworldClient(address)));

describeEnvironment('OpenEnv over a WebSocket', () => served((address) => new OpenEnvClient(address)));

if (isDeep) {
  describeEnvironment('OpenEnv below /openenv', () => served((address) => new OpenEnvClient(`${address}/openenv`)));
  describeEnvironment('an older ALFWorld server', () => served((address) => new AlfworldClient(address), serveOlder), {
    named: false,
  });
}

/** A double of the older server, which names no games and ignores the body of a reset, except our seed. */
async function serveOlder(options: Parameters<typeof serveWorld>[0]): Promise<WorldServer> {
  const inner = await serveWorld({ ...options, port: 0 });
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const asked = parts.length ? JSON.parse(Buffer.concat(parts).toString()) : {};
    const { gamefile: _, ...body } = asked;
    const answer = await fetch(new URL(request.url!, inner.address), {
      method: request.method!,
      ...(request.method === 'POST' ? { body: JSON.stringify(body) } : {}),
    });
    const { problem_dir: _1, gamefile: _2, ...state } = (await answer.json()) as { [key: string]: unknown };
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(state));
  });
  await new Promise<void>((resolve) => server.listen(options.port, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ended: inner.ended,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await inner.close();
    },
  };
}

describe('a client of a world', () => {
  it.each([
    ['{"observation": 1}', 'invalid-answer', 'observation: not as expected'],
    ['<html>', 'invalid-answer', 'does not answer as an ALFWorld server'],
    [`"${'x'.repeat(2 << 20)}"`, 'invalid-answer', 'more than 1048576 bytes'],
  ])('refuses an answer that is malformed or too long: case %#', async (text, code, message) => {
    const server = createServer((_, response) => response.end(text));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = new AlfworldClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect(client.state()).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    server.close();
  });

  it('reports a server that does not answer', async () => {
    await expect(new AlfworldClient('http://127.0.0.1:1').state()).rejects.toMatchObject({ code: 'unreachable' });
    await expect(new OpenEnvClient('http://127.0.0.1:1').reset()).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('stops waiting at its time limit', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(new AlfworldClient(address, { milliseconds: 50 }).step('look')).rejects.toMatchObject({
      code: 'unreachable',
    });
    server.closeAllConnections();
    server.close();
  });
});

describe('what an agent carries', () => {
  it.each([
    [null, 'You pick up the soapbar 2 from the sinkbasin 1.', 'soapbar 2'],
    ['soapbar 2', 'You move the soapbar 2 to the toilet 1.', null],
    ['soapbar 2', 'You put the soapbar 2 in/on the toilet 1.', null],
    ['soapbar 2', 'You clean the soapbar 2 using the sinkbasin 1.', 'soapbar 2'],
    [null, 'You are carrying: a egg 1.', 'egg 1'],
    ['egg 1', 'You are not carrying anything.', null],
    ['egg 1', 'Nothing happens.', 'egg 1'],
  ])('is %j, then after %j it is %j', (before, observation, after) =>
    expect(carriedObjectsAfter(before, observation)).toBe(after),
  );
});
