import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Message, type Part, Role, type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fieldsOf } from '../../src/base/json.ts';
import { userStateFolder } from '../../src/base/user-folders.ts';
import { verifyChain } from '../../src/evidence/chain.ts';
import { stateDir } from '../../src/project/state-dir.ts';
import { openHttpServer } from '../../src/server/http-server.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { agencyWith, countingAgent, INPUTS } from '../agency/agency-nodes.ts';
import { type Served, serveWorld, until } from './serve-world.ts';
import { isDeep } from '../depth.ts';

/** The client of the A2A library, with the operator's token. */
async function clientOf({ port, operator }: Pick<Served, 'port' | 'operator'>, agent = ''): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) =>
    fetch(url, {
      ...init,
      headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${operator}` },
    });
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }));
  return factory.createFromUrl(`http://127.0.0.1:${port}${agent && `/a2a/${agent}/`}`);
}

const part = (content: Part['content']): Part => ({ content, metadata: undefined, filename: '', mediaType: '' });
const text = (value: string): Part => part({ $case: 'text', value });
const data = (value: unknown): Part => part({ $case: 'data', value });

let messages = 0;
const saying = (
  parts: Part[],
  metadata: Message['metadata'] = undefined,
  messageId = `m${++messages}`,
): SendMessageRequest => ({
  tenant: '',
  message: {
    messageId,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts,
    metadata,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

const sent = async (client: Client, request: SendMessageRequest): Promise<Task> =>
  (await client.sendMessage(request)) as Task;
const stateOf = ({ status }: Task): string => TaskState[status!.state]!;
const statusText = ({ status }: Task): string => {
  const content = status?.message?.parts[0]?.content;
  return content?.$case === 'text' ? content.value : '';
};

const TALK = `talk:\n  entry: Answer in a sentence.\n  inputs: []\n  prompt-template: go\n  response: { type: text }\n`;
const COUNT = `count:\n  entry: Count.\n  inputs: [what]\n  prompt-template: "{{what}}"\n  response: { type: json, schema: { type: object } }\n`;

describe('the agency for A2A clients', () => {
  it('has a card with a skill for each agency peripheral, for the node and for each agent', async () => {
    const agents =
      'x: { location: local, driver: scripted, replies: [a] }\ny: { location: local, driver: scripted, replies: [b] }';
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK + COUNT) });
    const node = await (await clientOf(served)).getAgentCard();
    expect(node.skills.map(({ id, description }) => [id, description])).toEqual([
      ['talk', 'Answer in a sentence.'],
      ['count', 'Count.'],
    ]);
    expect((await (await clientOf(served, 'y')).getAgentCard()).name).toBe('y');
    const none = await served.ask('GET /a2a/z/.well-known/agent-card.json', { token: null });
    expect([none.status, none.json.error.message]).toEqual([404, 'there is no agent "z"']);
  });

  it('runs the agent of the address or of the message, with inputs as data and the prompt as text', async () => {
    const agents =
      'x: { location: local, driver: scripted, replies: [from x] }\ny: { location: local, driver: scripted, replies: [\'{"n":2}\'] }';
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK + COUNT) });
    const node = await clientOf(served);
    const talked = await sent(node, saying([text('hello')], { 'agent-id': 'x', peripheral: 'talk' }));
    expect([stateOf(talked), talked.artifacts[0]!.parts[0]!.content]).toEqual([
      'TASK_STATE_COMPLETED',
      { $case: 'text', value: 'from x' },
    ]);
    const y = await clientOf(served, 'y');
    const counted = await sent(y, saying([data({ what: 'eggs' })], { peripheral: 'count' }));
    expect(counted.artifacts[0]!.parts[0]!.content).toEqual({ $case: 'data', value: { n: 2 } });
    expect(await y.getTask({ tenant: '', id: counted.id })).toMatchObject({ id: counted.id, status: counted.status });
  });

  it('rejects a message that fits no agent, peripheral or input, and names the remedy', async () => {
    const agents =
      'x: { location: local, driver: scripted, replies: [a] }\nz: { location: local, driver: scripted, replies: [b] }';
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents) });
    const client = await clientOf(served);
    const refused: [Part[], Message['metadata'], RegExp][] = [
      [[text('hi')], undefined, /^invalid-request: the message names no agent-id .*one of: x, z\.$/],
      [[text('hi')], { 'agent-id': 'xx' }, /^unknown-agent: /],
      [
        [data({ 'par/title': 'Lab' })],
        { 'agent-id': 'x' },
        /^missing-inputs: .*par\/crdt-host, par\/crdt-port, session\/id/,
      ],
      [[data({ ...INPUTS, more: 1 })], { 'agent-id': 'x' }, /^unknown-inputs: .*"more"/],
      [[part({ $case: 'url', value: 'file:///etc/passwd' })], { 'agent-id': 'x' }, /^invalid-request: .*neither text/],
      [[text('hi')], { 'agent-id': 7 }, /^invalid-request: agent-id: /],
    ];
    for (const [parts, metadata, expected] of refused) {
      const task = await sent(client, saying(parts, metadata));
      expect([stateOf(task), statusText(task)]).toEqual(['TASK_STATE_REJECTED', expect.stringMatching(expected)]);
    }
  });

  it('answers a body that is not a call with the errors of JSON-RPC', async () => {
    const agents = 'x: { location: local, driver: scripted, replies: [a] }';
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK) });
    const call = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'none' } };
    const answered = async (body: unknown, address = '/a2a') => {
      const { status, json } = await served.ask(`POST ${address}`, { body });
      return [status, json.jsonrpc, json.id, json.error.code];
    };
    for (const address of ['/a2a', '/a2a/x']) {
      expect(await answered('{"jsonrpc": ', address)).toEqual([200, '2.0', null, -32700]);
      for (const body of [[call], [], 7, 'null', {}, { ...call, jsonrpc: '1.0' }, { ...call, method: 7 }])
        expect(await answered(body, address), JSON.stringify(body)).toEqual([200, '2.0', null, -32600]);
    }
    const nobody = await served.ask('POST /a2a', { token: null, body: '{' });
    expect([nobody.status, nobody.json.error.code]).toEqual([401, 'not-authenticated']);
  });

  it('refuses a message with the role of an agent, and starts no run', async () => {
    const agent = await countingAgent();
    const agents = `x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`;
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK) });
    const client = await clientOf(served);
    const request = saying([text('hi')]);
    const message = { ...request.message!, role: Role.ROLE_AGENT };
    await expect(client.sendMessage({ ...request, message })).rejects.toThrow('ROLE_USER');
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { messageId: 'a', role: 2 } } };
    const { json } = await served.ask('POST /a2a', { body, headers: { 'a2a-version': '1.0' } });
    expect([json.id, json.error.code]).toEqual([1, -32602]);
    expect(agent.prompts).toEqual([]);
  });

  it('streams the states of a task, and starts one agent for a message that is sent twice', async () => {
    const agent = await countingAgent(100);
    const agents = `x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`;
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK) });
    const client = await clientOf(served);
    const request = saying([text('one')]);
    const seen: string[] = [];
    for await (const { payload } of client.sendMessageStream(request)) {
      if (payload?.$case === 'task' || payload?.$case === 'statusUpdate')
        seen.push(TaskState[payload.value.status!.state]!);
      else seen.push(payload!.$case);
    }
    expect(seen).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'artifactUpdate', 'TASK_STATE_COMPLETED']);
    const [a, b] = await Promise.all([sent(client, request), sent(client, request)]);
    expect([stateOf(a), stateOf(b), agent.prompts.length]).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED', 1]);
  });

  it('cancels a task, and with it the agent', async () => {
    let left = 0;
    let began = 0;
    const hanging = createServer((request, response) => {
      began++;
      request.resume();
      response.on('close', () => left++);
    });
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void hanging.close());
    const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
    const agents = `x: { location: local, driver: http, url: "${url}", honours: [fs, shell, http] }`;
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK) });
    const client = await clientOf(served);
    const stream = client.sendMessageStream(saying([text('wait')]));
    const { value } = await stream.next();
    const id = value!.payload!.$case === 'task' ? value!.payload!.value.id : '';
    await until(() => began === 1);
    expect(stateOf(await client.cancelTask({ tenant: '', id, metadata: undefined }))).toBe('TASK_STATE_CANCELED');
    await until(() => left === 1);
  });

  it.runIf(isDeep)('reports the end of a task whose client left its stream', async () => {
    const agent = await countingAgent(100);
    const agents = `x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`;
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK) });
    const client = await clientOf(served);
    const stream = client.sendMessageStream(saying([text('hi')]));
    const { value } = await stream.next();
    const id = value!.payload!.$case === 'task' ? value!.payload!.value.id : '';
    await stream.return();
    await until(async () => stateOf(await client.getTask({ tenant: '', id })) === 'TASK_STATE_COMPLETED');
    expect(agent.prompts).toHaveLength(1);
  });

  it('refuses push notifications, also those that a message asks for', async () => {
    const agents = 'x: { location: local, driver: scripted, replies: [a] }';
    const served = await serveWorld({}, { agencyFolder: agencyWith(agents, TALK) });
    const client = await clientOf(served);
    const taskPushNotificationConfig = {
      tenant: '',
      taskId: '',
      id: 'p',
      url: 'http://127.0.0.1:9/',
      token: '',
      authentication: undefined,
    };
    const configuration = {
      acceptedOutputModes: [],
      returnImmediately: false,
      historyLength: undefined,
      taskPushNotificationConfig,
    };
    const asked = client.sendMessage({ ...saying([text('hi')]), configuration });
    await expect(asked).rejects.toThrow(/Push Notification is not supported/);
    const params = { taskId: 't', id: 'p', url: 'http://127.0.0.1:9/' };
    const body = { jsonrpc: '2.0', id: 1, method: 'CreateTaskPushNotificationConfig', params };
    const raw = await served.ask('POST /a2a', { body, headers: { 'a2a-version': '1.0' } });
    expect(raw.json.error.code).toBe(-32003);
  });

  it.runIf(isDeep)(
    'keeps tasks over a restart, each for its own client, and fails a task whose agent was working',
    async () => {
      const agent = await countingAgent(60_000);
      const agents = `x: { location: local, driver: scripted, replies: [a] }\nslow: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`;
      const agencyFolder = agencyWith(agents, TALK);
      const first = await serveWorld({}, { agencyFolder });
      const client = await clientOf(first);
      const done = await sent(client, saying([text('hi')], { 'agent-id': 'x' }));
      const stream = client.sendMessageStream(saying([text('hi')], { 'agent-id': 'slow' }));
      const { value } = await stream.next();
      const id = value!.payload!.$case === 'task' ? value!.payload!.value.id : '';
      await until(() => agent.prompts.length === 1);
      // The second server knows nothing of the first one's memory, as after a crash.
      const again = await openHttpServer(first.host({ keepOpenMs: 1 }), {
        env: first.env,
        listen: { port: 0 },
        agencyFolder,
      });
      first.later(() => again.close());
      const port = Number(/:(\d+)$/.exec(again.address)![1]);
      const later = await clientOf({ port, operator: first.operator });
      expect(await later.getTask({ tenant: '', id: done.id })).toMatchObject({ artifacts: done.artifacts });
      const failed = await later.getTask({ tenant: '', id });
      const store = sqliteStore(join(stateDir(agencyFolder, first.env), 'evidence.db'));
      first.later(() => store.close());
      const last = (await Array.fromAsync(store.entries(id))).at(-1)!;
      expect(fieldsOf(fieldsOf(last.entry.body)['task'])['status']).toMatchObject({ state: 'TASK_STATE_FAILED' });
      expect([stateOf(failed), statusText(failed)]).toEqual([
        'TASK_STATE_FAILED',
        expect.stringMatching(/^run-interrupted: /),
      ]);
      const other = await clientOf({ port, operator: first.agent });
      await expect(other.getTask({ tenant: '', id: done.id })).rejects.toThrow(/not found/i);
    },
  );

  it('keeps each task in the evidence of the node, from which a server without the journal of runs can answer', async () => {
    const agencyFolder = agencyWith('x: { location: local, driver: scripted, replies: [a view] }', TALK);
    const first = await serveWorld({}, { agencyFolder });
    const done = await sent(await clientOf(first), saying([text('hi')]));
    const store = sqliteStore(join(stateDir(agencyFolder, first.env), 'evidence.db'));
    first.later(() => store.close());
    const entries = await Array.fromAsync(store.entries(done.id));
    expect(await verifyChain(entries)).toMatchObject({ ok: true });
    const changes = entries.map(({ entry }) => fieldsOf(fieldsOf(entry.body)['task']));
    const states = changes.flatMap(({ status }) => fieldsOf(status)['state'] ?? []);
    expect(states).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(JSON.stringify(changes).match(/a view/g)).toHaveLength(1);
    for (const part of ['', '-wal', '-shm'])
      rmSync(join(userStateFolder(first.env), `agency.db${part}`), { force: true });
    const host = first.host({ keepOpenMs: 1 });
    const again = await openHttpServer(host, { env: first.env, listen: { port: 0 }, agencyFolder });
    first.later(() => again.close());
    const port = Number(/:(\d+)$/.exec(again.address)![1]);
    const later = await clientOf({ port, operator: first.operator });
    const { artifacts, status } = done;
    expect(await later.getTask({ tenant: '', id: done.id })).toMatchObject({ artifacts, status });
  });

  it('needs a token, and speaks version 1.0 only', async () => {
    const served = await serveWorld(
      {},
      { agencyFolder: agencyWith('x: { location: local, driver: scripted, replies: [a] }', TALK) },
    );
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } };
    expect((await served.ask('POST /a2a', { token: null, body })).status).toBe(401);
    expect((await served.ask('POST /a2a', { token: served.auditor, body })).status).toBe(403);
    expect((await served.ask('POST /a2a', { body })).json.error.message).toMatch(/version/i);
    const known = await served.ask('POST /a2a', { body, headers: { 'a2a-version': '1.0' } });
    expect(known.json.error.message).toMatch(/not found/i);
  });
});
