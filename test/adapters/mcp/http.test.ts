import { request } from 'node:http';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentSession } from '../../../src/adapters/core/agent-session.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import type { McpOptions } from '../../../src/adapters/mcp/mcp-options.ts';
import { type HttpOptions, type HttpServing, serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts';
import type { OpenOptions } from '../../../src/open-options.ts';
import { agentWorld } from '../../contracts/agent-world.ts';
import { depth, isDeep } from '../../depth.ts';
import { type ClientParts, call, ERAS, type Era, hostOf, names, newClient } from './client.ts';
import { slowGlob } from './slow-glob.ts';

async function served(options: HttpOptions = {}, mcp: Partial<McpOptions> = {}, open: Partial<OpenOptions> = {}) {
  const world = await agentWorld('explore');
  const session = await world.open(open);
  const serving = await serveOverHttp(hostOf(agentSession(session), mcp), options);
  onTestFinished(() => serving.close());
  return { world, session, serving };
}

async function client({ url, token }: HttpServing, parts: ClientParts = {}): Promise<Client> {
  const made = newClient(parts);
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  await made.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => made.close());
  return made;
}

/** Sends one request with headers that `fetch` would refuse. */
const post = (url: string, headers: { readonly [name: string]: string }, body: unknown = ping, method = 'POST') =>
  new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const sent = request(url, { method, headers: { ...json, ...headers } }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += String(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

describe.each(depth<readonly Era[]>(ERAS.slice(-1), ERAS))('Streamable HTTP (%s)', (era) => {
  it('serves the session with its changing tools', async () => {
    const { serving, world } = await served();
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    const mine = await client(serving, { era, onTools: resolve });
    expect(await names(mine)).toContain('grep');
    const { text } = await call(mine, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
    expect(text).toContain('tools open: read.');
    expect(await promise).toEqual(['read', 'hop', 'mode', 'status', 'why']);
    expect((await call(mine, 'grep', { pattern: 'x' })).text).toContain('edit has no tool grep');
    await mine.close();
    await world.verify();
  });

  it('asks the person at the client', async () => {
    const { serving, session } = await served();
    const shown: string[] = [];
    const mine = await client(serving, {
      era,
      person: async (message) => {
        shown.push(message);
        return { action: 'accept', content: { approve: true } };
      },
    });
    expect((await call(mine, 'mode', { to: 'execute', reason: 'to mend' })).isError).toBe(false);
    expect(shown).toEqual([expect.stringContaining('reason: to mend')]);
    expect(session.state.mode).toBe('execute');
  });

  it('returns a reconnecting client to its session', async () => {
    const { serving } = await served({}, { relistMs: 0 });
    const first = await client(serving, { era });
    await call(first, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
    await first.close();
    expect(await names(await client(serving, { era }))).toEqual(['read', 'hop', 'mode', 'status', 'why']);
  });

  it('reports the progress of a long call', async () => {
    const { backend, release } = slowGlob();
    const { serving } = await served({}, { progressMs: 1 }, { backends: (real) => [backend, ...real] });
    const mine = await client(serving, { era });
    await mine.callTool({ name: 'glob', arguments: { pattern: '*' } }, { onprogress: () => release() });
  });
});

it.each(depth<readonly Era[]>(ERAS.slice(-1), ERAS))(
  'the agent’s place is sent once, when its client initializes (%s)',
  async (era) => {
    const world = await agentWorld('explore');
    const session = agentSession(await world.open());
    let deliveries = 0;
    const counting: AgentSession = {
      ...session,
      prompt: () => {
        deliveries += 1;
        return session.prompt();
      },
    };
    const serving = await serveOverHttp(hostOf(counting));
    onTestFinished(() => serving.close());
    const mine = await client(serving, { era });
    await call(mine, 'read', { path: 'README.md' });
    await names(mine);
    expect(mine.getInstructions()).toContain('found-target');
    expect(deliveries).toBe(1);
  },
);

it('clients of both protocol versions share a session', async () => {
  const { serving } = await served();
  const old = await client(serving, { era: 'legacy' });
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  await client(serving, { era: 'auto', onTools: resolve });
  await call(old, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
  expect(await promise).toEqual(['read', 'hop', 'mode', 'status', 'why']);
});

describe('a request is refused before it reaches the protocol', () => {
  it('without the token, or with a wrong one', async () => {
    const { serving } = await served();
    for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${serving.token}`, `Bearer ${serving.token}x`]) {
      const { status, text, headers } = await post(
        serving.url,
        authorization === '' ? {} : { authorization },
        initialize,
      );
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(text).toContain('Authorization: Bearer TOKEN');
    }
  });

  it('under a foreign host name, as in DNS rebinding', async () => {
    const { serving } = await served();
    const authorization = `Bearer ${serving.token}`;
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', 'user@evil.example'])
      expect(await post(serving.url, { authorization, host }, initialize)).toMatchObject({ status: 403 });
    for (const host of ['localhost', 'localhost:99', '127.0.0.1', '[::1]:1'])
      expect(await post(serving.url, { authorization, host }, initialize)).toMatchObject({ status: 200 });
  });

  it('from a web page', async () => {
    const { serving } = await served();
    const authorization = `Bearer ${serving.token}`;
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example'])
      expect(await post(serving.url, { authorization, origin }, initialize)).toMatchObject({ status: 403 });
  });

  it('at another path', async () => {
    const { serving } = await served();
    const elsewhere = serving.url.replace('/mcp', '/');
    const authorization = `Bearer ${serving.token}`;
    expect(await post(elsewhere, { authorization })).toMatchObject({
      status: 404,
      text: expect.stringContaining('/mcp'),
    });
  });
});

describe('a malformed request', () => {
  const authorized = async () => {
    const { serving } = await served();
    const authorization = `Bearer ${serving.token}`;
    return (body: unknown, headers = {}, method = 'POST') =>
      post(serving.url, { authorization, ...headers }, body, method);
  };

  it('is answered with the instruction to begin with initialize', async () => {
    const send = await authorized();
    expect(await send(ping)).toMatchObject({ status: 400, text: expect.stringContaining('initialize') });
    expect(await send('', {}, 'GET')).toMatchObject({ status: 400 });
    expect(await send('{')).toMatchObject({ status: 400 });
  });

  it('is answered with the reason if its connection has ended', async () => {
    const send = await authorized();
    expect(await send(ping, { 'mcp-session-id': 'gone' })).toMatchObject({ status: 404 });
  });

  it('does not stop the server', async () => {
    const send = await authorized();
    await send('x'.repeat(5 << 20));
    await send([1, 2]);
    await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 7 } });
    expect(await send(initialize)).toMatchObject({ status: 200 });
  });
});

it.runIf(isDeep)('the connection with the longest silence is closed if there are too many', async () => {
  const { serving } = await served();
  const authorization = `Bearer ${serving.token}`;
  const open = async () => String((await post(serving.url, { authorization }, initialize)).headers['mcp-session-id']);
  const first = await open();
  const second = await open();
  for (let more = 0; more < 62; more += 1) await open();
  const use = (id: string) => post(serving.url, { authorization, 'mcp-session-id': id });
  expect(await use(first)).toMatchObject({ status: 200 });
  await open();
  expect(await use(second)).toMatchObject({ status: 404 });
  expect(await use(first)).toMatchObject({ status: 200 });
});

it('a client of the 2026 protocol that disconnects during a call aborts it', async () => {
  const { backend, started } = slowGlob();
  const { serving, session } = await served({}, {}, { backends: (real) => [backend, ...real] });
  const mine = await client(serving, { era: 'auto' });
  const cancel = new AbortController();
  const running = mine.callTool({ name: 'glob', arguments: { pattern: '*' } }, { signal: cancel.signal });
  await started;
  cancel.abort();
  await expect(running).rejects.toThrow();
  await call(await client(serving), 'status');
  expect((await session.evidence()).at(-1)?.body).toMatchObject({ outcome: { status: 'failed', code: 'aborted' } });
});
