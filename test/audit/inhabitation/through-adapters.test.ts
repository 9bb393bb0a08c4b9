import { expect, it } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { recordTranscript } from '../../../src/adapters/core/transcript/record-transcript.ts';
import { plainLoop } from '../../../src/adapters/plain-loop.ts';
import { call, connected, hostOf } from '../../adapters/mcp/client.ts';
import { changed, fixtureSpecs, inTurn, must, stage } from '../../session/sessions.ts';
import { Items, judge } from './inhabited-sessions.ts';

const ALL = { 'P-1': 'holds', 'P-2': 'holds', 'P-3': 'holds', 'P-4': 'holds', 'P-5': 'holds', 'P-6': 'holds' };
const look = { to: 'diagnose', reason: 'I have to diagnose' };
const enter = { to: 'explore', reason: 'I look around in explore' };
const leave = { to: 'reflect', exit: 'hop-reflect', reason: 'I leave by hop-reflect' };

it('an agent in a plain loop passes P-1 to P-6', async () => {
  const { session } = await stage();
  const items = new Items();
  const recorded = recordTranscript(agentSession(session), items);
  const loop = plainLoop(recorded, { shape: 'anthropic' });
  let id = 0;
  const use = (name: string, input: object) => loop.answer([{ type: 'tool_use', id: `t${id++}`, name, input }]);
  await loop.system();
  await loop.tools();
  await use('mode', look);
  await use('hop', enter);
  recorded.said('I am in explore, and I read.');
  await loop.tools();
  await use('read', { path: 'src/a.ts' });
  await use('hop', leave);
  const { verdicts, reasons } = await judge(session, items.transcript);
  expect(reasons).toEqual([]);
  expect(verdicts).toEqual(ALL);
});

it('an agent over MCP passes P-1 to P-6', async () => {
  const { session } = await stage();
  const items = new Items();
  const client = await connected(hostOf(recordTranscript(agentSession(session), items)));
  await client.listTools();
  await call(client, 'mode', look);
  await call(client, 'hop', enter);
  await client.listTools();
  await call(client, 'read', { path: 'src/a.ts' });
  await call(client, 'edit', { path: 'src/a.ts', old: 'a', new: 'b' });
  await call(client, 'hop', leave);
  await client.close();
  const { verdicts, reasons } = await judge(session, items.transcript);
  expect(reasons).toEqual([]);
  expect(verdicts).toEqual(ALL);
});

it('an agent whose hop changes the mode, or fails to, passes P-1 to P-6', async () => {
  const { session } = await stage({ approver: inTurn(null, { by: 'ann' }) });
  const items = new Items();
  const agent = recordTranscript(agentSession(session), items);
  const into = { to: 'edit', exit: 'hop-edit', reason: 'I edit a', mode: 'execute' };
  await agent.prompt();
  await agent.call({ name: 'hop', input: enter });
  expect(await agent.call({ name: 'hop', input: into })).toMatchObject({ status: 'refused' });
  expect(await agent.call({ name: 'hop', input: into })).toMatchObject({ status: 'ok' });
  agent.said('I am in edit.');
  const { verdicts, reasons } = await judge(session, items.transcript);
  expect(reasons).toEqual([]);
  expect(verdicts).toEqual(ALL);
});

it('an agent with parallel calls in a turn passes P-1 to P-6', async () => {
  const { session } = await stage();
  const items = new Items();
  const agent = recordTranscript(agentSession(session), items);
  await agent.prompt();
  await Promise.all([agent.call({ name: 'mode', input: look }), agent.call({ name: 'hop', input: enter })]);
  await Promise.all([
    agent.call({ name: 'read', input: { path: 'src/a.ts' } }),
    agent.call({ name: 'hop', input: leave }),
    agent.call({ name: 'hop', input: { to: 'explore', exit: 'hop-explore', reason: 'I hop back to explore' } }),
  ]);
  const { verdicts, reasons } = await judge(session, items.transcript);
  expect(reasons).toEqual([]);
  expect(verdicts).toEqual(ALL);
});

it('an agent that returns to edit and changes another file passes P-1 to P-6', async () => {
  const { test } = fixtureSpecs.peripherals;
  const changedFiles = { source: { kind: 'fruit', peripheral: 'edit' }, optional: false } as const;
  const context = { ...test!.context, 'changed-files': changedFiles };
  const specs = { ...fixtureSpecs, peripherals: { ...fixtureSpecs.peripherals, test: { ...test!, context } } };
  const results = { write: changed('src/b.ts') };
  const { session } = await stage({ specs, results, approver: inTurn({ by: 'ann' }) });
  const items = new Items();
  const agent = recordTranscript(agentSession(session), items);
  const hop = (to: string) => agent.call({ name: 'hop', input: { to, exit: `hop-${to}`, reason: `I hop to ${to}` } });
  await agent.prompt();
  await agent.call({ name: 'hop', input: enter });
  await agent.call({ name: 'hop', input: { to: 'edit', exit: 'hop-edit', reason: 'I edit', mode: 'execute' } });
  const edit = { name: 'edit', input: { path: 'src/a.ts', old: 'a', new: 'b' } };
  for (const call of [edit, { name: 'write', input: { path: 'src/b.ts', content: 'x' } }]) {
    expect(await agent.call(call)).toMatchObject({ status: 'ok' });
    expect(await hop('test')).toMatchObject({ status: 'ok' });
    await hop('edit');
  }
  agent.said('I am in edit.');
  const { verdicts, reasons } = await judge(session, items.transcript);
  expect(reasons).toEqual([]);
  expect(verdicts).toEqual(ALL);
});

it('an agent whose operator changes the mode before its first prompt passes P-1 to P-6', async () => {
  const { session } = await stage();
  const items = new Items();
  const agent = recordTranscript(agentSession(session), items);
  await must(session.start('explore'));
  await must(session.setMode({ to: 'diagnose', by: 'operator', reason: 'the agent plans' }));
  await agent.prompt();
  agent.said('I am in explore.');
  expect(await agent.call({ name: 'read', input: { path: 'src/a.ts' } })).toMatchObject({ status: 'ok' });
  await agent.call({ name: 'hop', input: leave });
  const { verdicts, reasons } = await judge(session, items.transcript);
  expect(reasons).toEqual([]);
  expect(verdicts).toEqual(ALL);
});
