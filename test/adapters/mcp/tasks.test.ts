import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  type JsonRpcResponse,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client';
import { type JsonValue, taskId as toTaskId } from '@modelcontextprotocol/ext-tasks/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import type { McpHost } from '../../../src/adapters/mcp/mcp-host.ts';
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts';
import { checkMessage, sendBell } from '../../../src/messages/send-message.ts';
import { openSession } from '../../../src/open-session.ts';
import type { Message } from '../../../src/ports/message-store.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import { depth, isDeep } from '../../depth.ts';
import { call, connected, ERAS, type Era, hostOf, newClient, textOf } from './client.ts';

const FRAMING = {
  protocolVersion: '2026-07-28',
  clientInfo: { name: 'a client', version: '1' },
  clientCapabilities: {},
};
const EXTENSION = 'io.modelcontextprotocol/tasks';

/** Two agents in one repository; `ann` works over MCP, and her client polls tasks. */
async function pair(era: Era) {
  const store = memoryStore();
  const open = async (agent: string) => {
    const session = await openSession({ root: '.', agent, store });
    await session.start('explore');
    return session;
  };
  const [ann, bob] = [await open('ann'), await open('bob')];
  const messages = store.messages!;
  const reading = {
    spec: async () => ann.specs,
    thread: async () => '',
    constraints: async () => ({}),
    inbox: () => messages.inbox(`session:${ann.id}`, { unread: true }),
    async message(id: string) {
      const message = await messages.find(id);
      return message ? { message, answer: await messages.answerTo(id) } : null;
    },
  };
  const host = hostOf(agentSession(ann), { reading, relistMs: 0, waitSeconds: 1 });
  onTestFinished(async () => {
    host.tasks.close();
    await ann.detach();
    await bob.detach();
    await store.close();
  });
  const send = async (to: string, more: { act?: string; ref?: string; text: string }) => {
    const post = { kind: 'bell' as const, id: `m-${Math.random()}`, from: `session:${bob.id}`, to, ...more };
    const checked = await checkMessage(store, messages, post);
    if (!checked.ok) throw new Error(checked.message);
    return sendBell(messages, checked.draft);
  };
  /** The question to bob; waits until it arrives. */
  const asked = async (): Promise<Message> => {
    for (;;) {
      const [first] = await messages.inbox(`session:${bob.id}`);
      if (first) return first;
      await sleep(5);
    }
  };
  return { host, ann, bob, messages, send, asked, ...(await (era === 'legacy' ? older(host) : newer(host))) };
}

/** A client of 2025-11-25. */
async function older(host: McpHost) {
  const client = await connected(host, { era: 'legacy' });
  const notified: unknown[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === 'notifications/tasks/status') notified.push(params);
  };
  const session = createTaskSessionFromClient(client, { endpointId: 'here' });
  onTestFinished(() => session.close());
  const ask = async (method: string, params: object): Promise<unknown> => {
    const any = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } };
    return client.request({ method, params: params as { [name: string]: unknown } }, any);
  };
  return { client, session, ask, notified, dispatch: null };
}

/** A client of 2026-07-28, over HTTP. */
async function newer(host: McpHost) {
  const serving = await serveOverHttp(host);
  onTestFinished(() => serving.close());
  const authorization = { Authorization: `Bearer ${serving.token}` };
  const client = newClient({ era: 'auto' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(serving.url), { requestInit: { headers: authorization } }),
  );
  onTestFinished(() => client.close());
  let last = 0;
  const dispatch = async (request: JsonValue): Promise<JsonRpcResponse> => {
    const { method, params } = request as { method: string; params: { name?: string; taskId?: string } };
    const answer = await fetch(serving.url, {
      method: 'POST',
      headers: {
        ...authorization,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        'Mcp-Name': params.name ?? params.taskId ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++last, ...(request as object) }),
    });
    const text = await answer.text();
    const body = JSON.parse(text.startsWith('{') ? text : /^data: (.*"id":.*)$/m.exec(text)![1]!);
    return body.error ? { kind: 'error', error: body.error } : { kind: 'result', result: body.result };
  };
  const session = createTaskSessionFromClient(client, {
    endpointId: 'here',
    rawDispatch: dispatch,
    v2RequestFraming: FRAMING,
  });
  onTestFinished(() => session.close());
  const ask = async (method: string, params: object, extensions: JsonValue = { [EXTENSION]: {} }): Promise<unknown> => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': FRAMING.protocolVersion,
      'io.modelcontextprotocol/clientInfo': FRAMING.clientInfo,
      'io.modelcontextprotocol/clientCapabilities': { extensions },
    };
    const answer = await dispatch({ method, params: { ...params, _meta } } as JsonValue);
    if (answer.kind === 'error') throw Object.assign(new Error(answer.error.message), answer.error);
    return answer.result;
  };
  return { client, session, ask, notified: null, dispatch };
}

/** A whistle whose client requests a task for it, if it must request one. */
const PREFER = { task: { preference: 'prefer', retentionMs: 60_000 }, declaration: undefined } as const;
const whistling = async ({ session, client }: Awaited<ReturnType<typeof pair>>, input: object) => {
  const { tools } = await client.listTools();
  const whistle = tools.find(({ name }) => name === 'whistle')!;
  const declaration = { name: 'whistle', inputSchema: {}, taskSupport: whistle.execution?.taskSupport ?? 'optional' };
  const params = { arguments: input as { readonly [name: string]: JsonValue } };
  const execution = await session.callTool('whistle', params.arguments, { ...PREFER, declaration });
  if (execution.kind !== 'task') throw new Error('the whistle was not a task');
  return execution;
};

describe.each(depth<readonly Era[]>(ERAS.slice(-1), ERAS))('a whistle as a task (%s)', (era) => {
  it('gives its answer to a client that polls, also later than a call may wait', async () => {
    const world = await pair(era);
    const execution = await whistling(world, { to: 'agent:bob', text: 'Which port?', seconds: 600 });
    const { id } = await world.asked();
    expect(execution.handle.taskId).toBe(id);
    const task = world.session.task(toTaskId(id));
    const view = await task.snapshot();
    expect(view).toMatchObject({ status: 'working', statusMessage: expect.stringContaining('no answer yet') });
    expect(view.retentionMs).toBeGreaterThanOrEqual(600_000);
    expect(await world.messages.waits(Date.now())).toMatchObject([{ id, waiter: `session:${world.ann.id}` }]);
    await world.send('agent:ann', { act: 'answer', ref: id, text: '3456' });
    const { content } = resultFromTaskOutcome((await execution.settle()).outcome) as Parameters<typeof textOf>[0];
    expect(textOf({ content })).toContain('3456');
    expect(await world.messages.inbox(`session:${world.ann.id}`, { unread: true })).toEqual([]);
    if (world.notified) expect(world.notified).toMatchObject([{ taskId: id, status: 'completed' }]);
  });

  it('ends at its deadline with the job, and a late answer arrives as a message', async () => {
    const world = await pair(era);
    const execution = await whistling(world, { to: 'agent:bob', text: 'Which port?', seconds: 1 });
    const { id } = await world.asked();
    const { content } = resultFromTaskOutcome((await execution.settle()).outcome) as Parameters<typeof textOf>[0];
    expect(JSON.parse(textOf({ content }))).toMatchObject({ status: 'waiting', job: id });
    await world.send('agent:ann', { act: 'answer', ref: id, text: '3456' });
    expect((await call(world.client, 'status')).text).toContain(`about ${id}] "3456"`);
  });

  it('can be cancelled: the wait ends, the recipient continues, and the session can be used', async () => {
    const world = await pair(era);
    const execution = await whistling(world, { to: 'agent:bob', text: 'Which port?', seconds: 600 });
    const { id } = await world.asked();
    const settled = execution.settle();
    await world.session.cancelTask(toTaskId(id));
    expect((await settled).outcome).toMatchObject({ status: 'cancelled' });
    expect(await world.messages.waits(Date.now())).toEqual([]);
    expect((await call(world.client, 'status')).isError).toBe(false);
    await world.send('agent:ann', { act: 'answer', ref: id, text: '3456' });
    expect((await call(world.client, 'status')).text).toContain(`about ${id}] "3456"`);
    expect(await world.ask('tasks/get', { taskId: id })).toMatchObject({ status: 'cancelled' });
    if (era === 'legacy') await expect(world.ask('tasks/cancel', { taskId: id })).rejects.toThrow('ended already');
    else expect(await world.ask('tasks/cancel', { taskId: id })).toMatchObject({ resultType: 'complete' });
  });

  it('leaves new messages to the next answer, because nobody may read the result of a task', async () => {
    const world = await pair(era);
    const execution = await whistling(world, { to: 'agent:bob', text: 'Which port?', seconds: 600 });
    const { id } = await world.asked();
    await world.send('agent:ann', { text: 'By the way.' });
    await world.send('agent:ann', { act: 'answer', ref: id, text: '3456' });
    await execution.settle();
    expect((await call(world.client, 'status')).text).toContain('"By the way."');
  });

  it('is found by a restarted server, and a message of another kind is not a task', async () => {
    const world = await pair(era);
    const message = { kind: 'whistle', act: 'query', author: 'ann', ref: null, to: `session:${world.bob.id}` } as const;
    await world.messages.send({ ...message, id: 'm-old', from: `session:${world.ann.id}`, text: 'Which port?' });
    expect(await world.ask('tasks/get', { taskId: 'm-old' })).toMatchObject({ taskId: 'm-old', status: 'completed' });
    expect(await world.session.task(toTaskId('m-old')).result()).toMatchObject({ status: 'completed' });
    await world.messages.send({ ...message, id: 'm-other', from: `session:${world.bob.id}`, text: 'Which port?' });
    await world.messages.send({ ...message, kind: 'bell', id: 'm-bell', from: `session:${world.ann.id}`, text: 'x' });
    for (const taskId of ['m-other', 'm-bell', 'm-none'])
      await expect(world.ask('tasks/get', { taskId })).rejects.toMatchObject({ code: -32602 });
    await expect(world.ask('tasks/cancel', { taskId: 'm-none' })).rejects.toMatchObject({ code: -32602 });
  });
});

it.runIf(isDeep)(
  'in the 2026 protocol, a refusal and a client that cannot poll get the result of the call immediately',
  async () => {
    const world = await pair('auto');
    const params = { name: 'whistle', arguments: { to: 'agent:nobody', text: 'x' } };
    expect(await world.ask('tools/call', params)).toMatchObject({ resultType: 'complete', isError: true });
    const plain = { name: 'whistle', arguments: { to: 'agent:bob', text: 'x', seconds: 600 } };
    const answer = world.ask('tools/call', plain, {} as never) as Promise<object>;
    const { id } = await world.asked();
    expect(await answer).toMatchObject({ resultType: 'complete', content: [{ text: expect.stringContaining(id) }] });
    await expect(world.ask('tasks/get', { taskId: id }, {} as never)).rejects.toMatchObject({ code: -32021 });
    expect(await world.ask('tasks/update', { taskId: id, inputResponses: {} })).toEqual(
      expect.objectContaining({ resultType: 'complete' }),
    );
    await expect(world.ask('tasks/result', { taskId: id })).rejects.toMatchObject({ code: -32601 });
    expect(world.client.getServerCapabilities()).toMatchObject({ extensions: { [EXTENSION]: {} } });
  },
);

it('in the 2025 protocol, a refusal is a failed task with its reason, and only a whistle can be a task', async () => {
  const world = await pair('legacy');
  const execution = await whistling(world, { to: 'agent:nobody', text: 'x' });
  const { outcome } = await execution.settle();
  expect(outcome).toMatchObject({ status: 'failed', task: { statusMessage: expect.stringContaining('nobody') } });
  const taskId = execution.handle.taskId;
  expect(await world.ask('tasks/result', { taskId })).toMatchObject({
    isError: true,
    _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
  });
  const status = { name: 'status', arguments: {}, task: {} };
  await expect(world.ask('tools/call', status)).rejects.toMatchObject({ code: -32601 });
  await expect(world.ask('tasks/update', { taskId, inputResponses: {} })).rejects.toMatchObject({ code: -32601 });
  expect(world.client.getServerCapabilities()?.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
});

it('a host that closes ends the waits of its tasks', async () => {
  const world = await pair('legacy');
  await whistling(world, { to: 'agent:bob', text: 'Which port?', seconds: 600 });
  await world.asked();
  await world.host.close();
  expect(await world.messages.waits(Date.now())).toEqual([]);
});
