import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ToolBackend } from '../../../src/ports/tool-backend.ts';
import type { ToolSpec } from '../../../src/spec/types.ts';
import { FixedClock } from '../../../src/testing/doubles/fixed-clock.ts';
import { upstreamBackend } from '../../../src/tools/upstream/upstream-backend.ts';
import { ENVELOPE } from '../../contracts/tool-backend.ts';

const TOOL: ToolSpec = {
  id: 'far-echo',
  purpose: 'as tested',
  effect: 'observe',
  parameters: [{ name: 'text', role: 'text', schema: { type: 'string' }, required: true, description: 'A text.' }],
  limits: { seconds: 20, outputBytes: 10_000 },
  upstream: { server: 'far', tool: 'echo', schemaHash: null, folders: 'contents' },
};

let server: Server;
let received: (string | undefined)[] = [];
let backend: ToolBackend;
const clock = new FixedClock();

async function listen(port = 0): Promise<number> {
  const handler = toNodeHandler(
    createMcpHandler(() => {
      const mcp = new McpServer({ name: 'far', version: '1' });
      const inputSchema = fromJsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string' } },
      });
      mcp.registerTool('echo', { description: 'Says it again.', inputSchema }, async ({ text }) => ({
        content: [{ type: 'text', text: `${text} ${received.at(-1)}` }],
      }));
      return mcp;
    }),
  );
  server = createServer((request, response) => {
    received.push(request.headers['authorization']);
    void handler(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const stop = async (): Promise<void> => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
};

const call = (port: number) =>
  backend.run({
    tool: TOOL,
    args: { text: 'hello' },
    envelope: {
      ...ENVELOPE,
      root: '/tmp',
      config: {
        ...ENVELOPE.config,
        upstream: {
          far: {
            url: `http://127.0.0.1:${port}/mcp`,
            headers: { authorization: 'Bearer ${FAR_TOKEN}' },
            contained: false,
          },
        },
      },
    },
    sessionId: 's',
    signal: new AbortController().signal,
  });

beforeEach(() => {
  received = [];
  backend = upstreamBackend({
    tools: { [TOOL.id]: TOOL },
    clock,
    random: () => 0,
    env: { FAR_TOKEN: 'a-bearer-secret' },
  });
});
afterEach(async () => {
  await backend.close?.();
  await stop().catch(() => {});
});

it('an HTTP upstream gets the headers of hopgate.yaml, and no secret comes back', async () => {
  const { outcome, effects } = await call(await listen());
  expect(outcome).toEqual({
    status: 'ok',
    result: { content: [{ type: 'text', text: 'hello Bearer ${FAR_TOKEN}' }] },
  });
  expect(effects).toEqual([]);
  expect(new Set(received)).toEqual(new Set(['Bearer a-bearer-secret']));
});

it('an HTTP upstream is connected again after its server was stopped', async () => {
  const port = await listen();
  expect((await call(port)).outcome).toMatchObject({ status: 'ok' });
  await stop();
  expect((await call(port)).outcome).toMatchObject({ status: 'failed', code: 'upstream-down' });
  await listen(port);
  expect((await call(port)).outcome).toMatchObject({
    code: 'upstream-down',
    message: expect.not.stringContaining('fetch failed'),
  });
  clock.advance(100);
  expect((await call(port)).outcome).toMatchObject({ status: 'ok' });
});

it('an HTTP upstream’s headers are not sent to another address', async () => {
  const elsewhere = createServer((request, response) => {
    received.push(`elsewhere: ${request.headers['authorization']}`);
    response.end();
  });
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  server = createServer((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/` }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect((await call((server.address() as AddressInfo).port)).outcome).toMatchObject({ code: 'upstream-down' });
  expect(received).toEqual([]);
  elsewhere.close();
});
