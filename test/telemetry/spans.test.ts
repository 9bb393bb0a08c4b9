import { readFileSync } from 'node:fs';
import { trace } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import { carryOutSessionRequest } from '../../src/daemon/session-request.ts';
import { openSession } from '../../src/open-session.ts';
import { roleTokenFile } from '../../src/server/access/tokens.ts';
import { openHttpServer } from '../../src/server/http-server.ts';
import { inTrace } from '../../src/telemetry/index.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { connected, hostOf } from '../adapters/mcp/client.ts';
import { makeWorld } from '../daemon/daemon-fixture.ts';
import { send } from '../server/serve-world.ts';
import { CONFIG, temporaryTree, yes } from '../session/sessions.ts';
import { otlpReceiver } from './otlp.ts';

const SECRET = 'the-contents-of-a-file';
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function opened(telemetry: true | { contents: boolean } = true) {
  const slowly = scriptedBackend({
    read: async () => {
      await new Promise((done) => setTimeout(done, 30));
      return { path: 'src/a.ts', text: SECRET };
    },
    grep: { matches: [] },
    edit: { path: 'src/a.ts', replacements: 1 },
  });
  const session = await openSession({
    root: temporaryTree({ 'src/a.ts': 'a\n' }),
    agent: 'tester',
    store: 'memory',
    config: CONFIG,
    approver: yes,
    backends: [slowly],
    telemetry,
  });
  await session.setMode({ to: 'diagnose' });
  await session.start('explore');
  return session;
}

it('telemetry sends spans of the session, its visits, steps, denials, hops, modes and approvals', async () => {
  const { spans } = await otlpReceiver();
  const session = await opened();
  await session.step({ tool: 'read', args: { path: 'src/a.ts' } });
  await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: SECRET } });
  await session.setMode({ to: 'execute' });
  await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found it' });
  await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: SECRET } });
  await session.stop('done');
  await session.close();
  const sent = await spans();
  const named = (name: string) => sent.find((span) => span.name === name)!;
  expect(sent.map(({ name }) => name).sort()).toEqual(
    [
      'approval execute',
      'denial tool-not-allowed',
      'execute_tool edit',
      'execute_tool read',
      'hop explore → edit',
      'invoke_agent tester',
      'mode diagnose → execute',
      'mode discuss → diagnose',
      'visit edit',
      'visit explore',
    ].sort(),
  );
  const all = named('invoke_agent tester');
  expect(all.attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'tester',
    'gen_ai.conversation.id': session.id,
  });
  expect(new Set(sent.map(({ traceId }) => traceId)).size).toBe(1);
  expect(named('visit explore')).toMatchObject({
    parentSpanId: all.spanId,
    attributes: { 'hopgate.exit': 'ready-to-edit' },
  });
  const read = named('execute_tool read');
  expect(read).toMatchObject({
    parentSpanId: named('visit explore').spanId,
    attributes: { 'gen_ai.tool.name': 'read', 'hopgate.peripheral': 'explore', 'hopgate.outcome': 'ok' },
  });
  expect(read.ms).toBeGreaterThanOrEqual(25);
  expect(named('denial tool-not-allowed')).toMatchObject({
    isError: true,
    parentSpanId: named('visit explore').spanId,
    attributes: { 'hopgate.denial.code': 'tool-not-allowed', 'gen_ai.tool.name': 'edit' },
  });
  expect(JSON.stringify(sent)).not.toContain(SECRET);
});

it('telemetry sends arguments and results only with the option `contents`', async () => {
  const { spans } = await otlpReceiver();
  const session = await opened({ contents: true });
  await session.step({ tool: 'read', args: { path: 'src/a.ts' } });
  await session.detach();
  const [read] = (await spans()).filter(({ name }) => name === 'execute_tool read');
  expect(read?.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"path":"src/a.ts"}',
    'gen_ai.tool.call.result': expect.stringContaining(SECRET),
  });
  expect((await spans()).map(({ name }) => name)).toContain('invoke_agent tester');
});

it('a span continues the trace of an MCP request, and links to the visit', async () => {
  const { spans } = await otlpReceiver();
  const session = await opened();
  const client = await connected(hostOf(agentSession(session), { inTrace }));
  const call = (path: string, _meta: { [field: string]: string }) =>
    client.callTool({ name: 'read', arguments: { path }, _meta });
  await call('src/a.ts', { traceparent: PARENT, tracestate: 'vendor=1' });
  await call('src/a.ts', { traceparent: 'not a trace' });
  await call('.env', { traceparent: PARENT });
  await client.close();
  await session.detach();
  const sent = await spans();
  const visit = sent.find(({ name }) => name === 'visit explore')!;
  const [first, second] = sent.filter(({ name }) => name === 'execute_tool read');
  const from = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    linked: [visit.spanId],
  };
  expect(first).toMatchObject(from);
  expect(second).toMatchObject({ traceId: visit.traceId, parentSpanId: visit.spanId, linked: [] });
  expect(sent.find(({ name }) => name === 'denial out-of-scope')).toMatchObject(from);
});

it('a span is a child of the program’s active span', async () => {
  const { spans } = await otlpReceiver();
  const session = await opened();
  await trace.getTracer('test').startActiveSpan('turn', async (turn) => {
    await session.step({ tool: 'grep', args: { pattern: 'a' } });
    turn.end();
  });
  await session.detach();
  const sent = await spans();
  const turn = sent.find(({ name }) => name === 'turn')!;
  expect(sent.find(({ name }) => name === 'execute_tool grep')).toMatchObject({ parentSpanId: turn.spanId });
});

it('a span of a daemon’s session continues the trace of the MCP request', async () => {
  const { spans } = await otlpReceiver();
  const world = makeWorld();
  const host = world.host({ telemetry: true });
  const signal = new AbortController().signal;
  const caller = { env: world.env, pid: process.pid };
  const at = { root: world.root, agent: 'claude-code' };
  const attached = await carryOutSessionRequest(host, caller, { op: 'attach', ...at }, signal);
  const session = (attached as { value: string }).value;
  const call = { name: 'edit', input: {}, trace: { traceparent: PARENT } };
  await carryOutSessionRequest(host, caller, { op: 'call', root: world.root, session, call }, signal);
  await host.close();
  const from = { traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' };
  expect((await spans()).find(({ name }) => name.startsWith('denial'))).toMatchObject(from);
});

it('a daemon sends spans of its sessions', async () => {
  const { spans } = await otlpReceiver();
  const world = makeWorld();
  const host = world.host({ telemetry: true });
  const http = await openHttpServer(host, { env: world.env, listen: { port: 0 } });
  world.later(() => http.close());
  const port = Number(new URL(http.address).port);
  const token = readFileSync(roleTokenFile(world.env, 'operator'), 'utf8').trim();
  const body = { root: world.root, agent: 'builder', peripheral: 'explore' };
  const { session } = (await send(port, 'POST /v1/sessions', { token, body })).json;
  await send(port, `POST /v1/sessions/${session}/step`, { token, body: { tool: 'edit', args: {} } });
  await send(port, `POST /v1/sessions/${session}/close`, { token, body: {} });
  await host.close();
  const sent = await spans();
  const names = sent.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['invoke_agent builder', 'visit explore', 'denial tool-not-allowed']));
});
