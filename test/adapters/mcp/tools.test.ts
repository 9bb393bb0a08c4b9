import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { AgentSession } from '../../../src/adapters/core/agent-session.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import type { McpReading } from '../../../src/adapters/mcp/mcp-reading.ts';
import { serveOverTransport } from '../../../src/adapters/mcp/serve-stdio.ts';
import type { Session } from '../../../src/session/session.ts';
import { agentWorld } from '../../contracts/agent-world.ts';
import { call, connected, ERAS, hostOf, names, newClient } from './client.ts';

const CONTROLS = ['hop', 'mode', 'status', 'why'];
const readingOf = ({ specs }: Session): McpReading => ({
  spec: async () => specs,
  thread: async () => 'a thread',
  constraints: async () => ({}),
  inbox: async () => [],
  message: async () => null,
});

describe('the list of tools', () => {
  it('states the effect of each tool', async () => {
    const world = await agentWorld('edit');
    const session = await world.open();
    const client = await connected(hostOf(agentSession(session), { reading: readingOf(session) }));
    const hints = Object.fromEntries(
      (await client.listTools()).tools.map(({ name, annotations: { title: _title, ...hints } = {} }) => [name, hints]),
    );
    const closed = { openWorldHint: false };
    const looks = { readOnlyHint: true, destructiveHint: false };
    const acts = { readOnlyHint: false, destructiveHint: true };
    // Must not run before or after the calls next to it.
    const moves = { readOnlyHint: false, destructiveHint: false };
    expect(hints).toEqual({
      read: { ...looks, ...closed },
      edit: { ...acts, ...closed },
      write: { ...acts, ...closed },
      bash: { ...acts, ...closed },
      hop: { ...moves, ...closed },
      mode: { ...moves, ...closed },
      status: { ...looks, ...closed },
      why: { ...looks, ...closed },
    });
  });

  it('sets openWorldHint for a tool that reaches beyond the repository', async () => {
    const world = await agentWorld('explore');
    const session = await world.open({ approver: () => true });
    const client = await connected(hostOf(agentSession(session), { reading: readingOf(session) }));
    const reaching = async () =>
      (await client.listTools()).tools.filter(({ annotations }) => annotations?.openWorldHint).map(({ name }) => name);
    expect(await reaching()).toEqual(['web-fetch']);
  });

  it('has a title for people and a schema for models', async () => {
    const world = await agentWorld('explore');
    const client = await connected(hostOf(agentSession(await world.open())));
    const tool = (await client.listTools()).tools.find(({ name }) => name === 'bash-readonly');
    expect(tool).toMatchObject({
      title: 'Bash readonly',
      inputSchema: { type: 'object', required: ['command'], additionalProperties: false },
    });
  });
});

describe.each(ERAS)('a change of the tools (%s)', (era) => {
  it('is notified before the answer, and the list is already new', async () => {
    const world = await agentWorld('explore');
    const notified: (readonly string[])[] = [];
    const client = await connected(hostOf(agentSession(await world.open()), { relistMs: 60_000 }), {
      era,
      onTools: (names) => notified.push(names),
    });
    const { text } = await call(client, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
    // The answer waits for the list to be fetched: with a minute's patience, this ends only because it was.
    expect(notified).toEqual([['read', ...CONTROLS]]);
    expect(text).toContain('tools open: read.');
  });

  it('is not notified without a change', async () => {
    const world = await agentWorld('explore');
    const notified: (readonly string[])[] = [];
    const client = await connected(hostOf(agentSession(await world.open())), {
      era,
      onTools: (now) => notified.push(now),
    });
    const read = await call(client, 'read', { path: 'README.md' });
    await call(client, 'write', { path: 'src/x', content: 'x' });
    expect(notified).toEqual([]);
    expect(read.text).not.toContain('Tools open now');
  });

  it('is notified to every client of the session', async () => {
    const world = await agentWorld('explore');
    const host = hostOf(agentSession(await world.open()));
    const mover = await connected(host, { era });
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    await connected(host, { era, onTools: resolve });
    await call(mover, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
    expect(await promise).toEqual(['read', ...CONTROLS]);
  });
});

describe('a client that does not list again', () => {
  it('still gets an answer with the available tools', async () => {
    const world = await agentWorld('explore');
    const client = await connected(hostOf(agentSession(await world.open()), { relistMs: 20 }));
    const { text } = await call(client, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
    expect(text).toContain('tools open: read');
  });

  it('is refused an outdated tool with the path to it, and the refusal is recorded', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const client = await connected(hostOf(agentSession(session), { relistMs: 20 }));
    await call(client, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
    const { text, isError, result } = await call(client, 'grep', { pattern: 'sum' });
    expect(isError).toBe(true);
    expect(text).toContain('tool-not-allowed: edit has no tool grep');
    expect(text).toMatch(/Shortest path: hop to reflect|hop to discipline/);
    expect(result._meta?.['hopgate/denial']).toMatchObject({ code: 'tool-not-allowed', about: { tool: 'grep' } });
    expect((await session.evidence()).at(-1)?.tags).toContain('denial');
  });
});

it('the notification is sent before the answer', async () => {
  const world = await agentWorld('explore');
  const [near, far] = InMemoryTransport.createLinkedPair();
  serveOverTransport(hostOf(agentSession(await world.open()), { relistMs: 20 }), far);
  const client = newClient();
  await client.connect(near);
  const seen: string[] = [];
  const receive = near.onmessage;
  near.onmessage = (message: JSONRPCMessage) => {
    seen.push('method' in message ? message.method : 'answer');
    receive?.(message);
  };
  await call(client, 'hop', { to: 'edit', exit: 'found-target', reason: 'there' });
  expect(seen).toEqual(['notifications/tools/list_changed', 'answer']);
  await client.close();
});

it('tools that a timeout removed are reported with the next call', async () => {
  const world = await agentWorld('explore');
  let now = Date.now();
  const session = await world.open({ clock: { now: () => now } });
  const notified: (readonly string[])[] = [];
  const client = await connected(hostOf(agentSession(session)), { onTools: (names) => notified.push(names) });
  expect(await names(client)).toContain('read');
  now += 61 * 60_000;
  const { text } = await call(client, 'read', { path: 'README.md' });
  expect(text).toContain('mode-forbids');
  expect(text).toContain('tools open: none.');
  expect(notified).toEqual([CONTROLS]);
});

describe('the content for a model', () => {
  const answering = (data: Awaited<ReturnType<AgentSession['call']>>['data'], status: 'ok' | 'failed' = 'ok') =>
    ({
      id: 's-1',
      tools: async () => [],
      allTools: async () => [],
      wants: async () => null,
      prompt: async () => 'somewhere',
      close: async () => {},
      call: async () => ({ status, text: 'upstream-error: it broke', data, denial: null, toolsChanged: false }),
    }) as unknown as AgentSession;
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };

  it('contains the upstream server’s blocks unchanged', async () => {
    const client = await connected(
      hostOf(answering({ content: [{ type: 'text', text: 'hi' }, image, link], structuredContent: { a: 1 } })),
    );
    expect((await call(client, 'shot')).result).toMatchObject({
      content: [{ type: 'text', text: 'hi' }, image, link],
      structuredContent: { a: 1 },
    });
  });

  it('contains the upstream server’s error message', async () => {
    const data = { code: 'upstream-error', message: 'it broke', result: { content: [image], isError: true } };
    const client = await connected(hostOf(answering(data, 'failed')));
    expect((await call(client, 'shot')).result).toMatchObject({ content: [image], isError: true });
  });

  it('contains hopgate’s message if the upstream server sent none', async () => {
    const data = { code: 'upstream-down', message: 'it is gone', result: { content: [] } };
    const client = await connected(hostOf(answering(data, 'failed')));
    expect(await call(client, 'shot')).toMatchObject({ text: 'upstream-error: it broke', isError: true });
  });

  it('contains similar data as data, not as blocks', async () => {
    const client = await connected(hostOf(answering({ content: [{ type: 'image' }] })));
    expect((await call(client, 'shot')).result.content).toEqual([{ type: 'text', text: 'upstream-error: it broke' }]);
  });

  it('repeats data as text, because clients show the model only one of them', async () => {
    const world = await agentWorld('edit');
    const client = await connected(hostOf(agentSession(await world.open()), { relistMs: 0 }));
    const structured = async (name: string, input: object) =>
      (await call(client, name, { ...input })).result.structuredContent;
    expect(await structured('write', { path: 'src/x.js', content: '1' })).toMatchObject({ path: 'src/x.js' });
    expect(await structured('grep', { pattern: 'x' })).toBeUndefined();
    expect(await structured('read', { path: 'src/sum.js' })).toBeUndefined();
    expect(await structured('status', {})).toBeUndefined();
    expect(await structured('hop', { to: 'test', exit: 'hop-test', reason: 'x' })).toBeUndefined();
  });
});
