import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transcriptPath } from '../../../src/adapters/core/transcript/transcript-file.ts';
import { judgeInhabitation } from '../../../src/audit/inhabitation/judge-inhabitation.ts';
import { executeRunTicket } from '../../../src/daemon/execute-run-ticket.ts';
import { carryOutSessionRequest } from '../../../src/daemon/session-request.ts';
import { parseTranscript, type Transcript } from '../../../src/evidence/transcript.ts';
import { stateDir } from '../../../src/project/state-dir.ts';
import type { Json } from '../../../src/spec/types.ts';
import { isDeep } from '../../depth.ts';
import { SERVER } from '../../server-name.ts';
import { World } from './claude-conversation.ts';

let world: World;
beforeEach(async () => {
  world = new World();
  await world.sendEvent('SessionStart', { source: 'startup' });
});
afterEach(() => world.close());

const child = { agent_id: 'a1', agent_type: 'general-purpose' };
const own = (tool: string) => `mcp__plugin_hopgate_${SERVER}__${tool}`;

async function transcript(agentId: string | null = null): Promise<Transcript> {
  const { sessionId } = await world.record(agentId);
  return parseTranscript(readFileSync(transcriptPath(stateDir(world.root, world.env), sessionId), 'utf8'));
}

/**
 * A call of one of hopgate's own tools: the hook gets its event, then the client makes the call over its connection.
 */
async function callOwn(tool: string, input: Json, fields = {}): Promise<void> {
  const { id, verdict } = await world.call(own(tool), input as never, fields);
  expect(verdict).toBe('allowed');
  const { sessionId } = await world.record();
  const op = { op: 'call', root: world.root, session: sessionId, call: { name: tool, input } } as const;
  const caller = { env: world.env, pid: null };
  expect(await carryOutSessionRequest(world.host, caller, op, new AbortController().signal)).toMatchObject({
    ok: true,
  });
  await world.done(id, own(tool), {}, fields);
}

/** A native call that the client runs to its end. */
async function native(tool: string, input: { [name: string]: string }, response: unknown, fields = {}) {
  const { id } = await world.call(tool, input, fields);
  return async () => void (await world.done(id, tool, response, fields));
}

async function judged(agentId: string | null = null): Promise<readonly string[]> {
  const recorded = await transcript(agentId);
  const { specs, entries } = await world.session(
    async (session) => ({ specs: session.specs, entries: await session.evidence() }),
    agentId,
  );
  return judgeInhabitation(recorded, specs, entries).flatMap(({ id, verdict, findings }) =>
    verdict === 'fails' ? findings.map(({ reason }) => `${id} ${reason}`) : [],
  );
}

const read = (path: string) =>
  native('Read', { file_path: world.path(path) }, { file: { filePath: world.path(path), content: 'one\n' } });

describe('the transcript of a conversation', () => {
  it('has each call once, whether native, over MCP, refused by the gate or the adapter, or without effects', async () => {
    await world.sendEvent('UserPromptSubmit', { prompt: 'Fix a.js' });
    await callOwn('mode', { to: 'diagnose', reason: 'I look at explore first' });
    await (await read('src/a.js'))();
    await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    await world.call('WebFetch', { url: 'http://127.0.0.1:1/', prompt: 'x' });
    await world.call('Skill', { skill: 'deploy-it' });
    await world.call('TodoWrite', { todos: [] });
    await callOwn('status', {});
    await callOwn('hop', { to: 'edit', exit: 'hop-edit', reason: 'I found it in explore, I hop to edit' });
    await world.sendEvent('Stop', { stop_hook_active: true, last_assistant_message: 'I am in edit now.' });

    const { items } = await transcript();
    const lines = items.map((item) => {
      if (item.kind === 'call') return `call ${item.tool} by ${item.channel}`;
      if (item.kind === 'inner') return `inner ${item.tool}`;
      if (item.kind === 'result') return `${item.status} ${item.code ?? ''}`.trim();
      if (item.kind === 'heard' || item.kind === 'said') return `${item.source}: ${item.text}`;
      return item.kind;
    });
    expect(lines).toEqual([
      'opened',
      'delivered',
      'user: Fix a.js',
      ...['call mode by call', 'ok'],
      ...['call read by Read', 'ok'],
      ...['call write by Write', 'refused tool-not-allowed'],
      ...['call web-fetch by WebFetch', 'refused out-of-scope'],
      ...['call Skill by Skill', 'refused'],
      'inner TodoWrite',
      ...['call status by call', 'ok'],
      ...['call hop by call', 'ok'],
      'agent: I am in edit now.',
    ]);
    expect(await judged()).toEqual([]);
  });

  it('links parallel calls to their entries, whichever ends first', async () => {
    await world.lead('explore', 'diagnose');
    const first = await read('src/a.js');
    const second = await read('README.md');
    await second();
    await first();
    expect(await judged()).toEqual(
      expect.not.arrayContaining([expect.stringContaining('left no evidence'), expect.stringContaining('read')]),
    );
  });

  it('has the result of a shell command that hopgate runs instead of the client', async () => {
    await callOwn('mode', { to: 'diagnose', reason: 'I look at explore first' });
    const { input } = await world.call('Bash', { command: 'cat src/a.js' });
    const [, ticket = ''] = /run ([0-9a-f]{32}); exit;\n/.exec(String(input?.['command'])) ?? [];
    expect(await executeRunTicket(world.host, ticket, new AbortController().signal)).toMatchObject({ exit: 0 });
    await callOwn('hop', { to: 'edit', exit: 'hop-edit', reason: 'I hop from explore to edit' });
    const { items } = await transcript();
    expect(items.filter(({ kind }) => kind === 'call' || kind === 'result').slice(2, 4)).toMatchObject([
      { kind: 'call', tool: 'bash-readonly', channel: 'Bash', input: { command: 'cat src/a.js' } },
      { kind: 'result', status: 'ok', text: 'one\n', evidence: [expect.any(String)] },
    ]);
    expect(await judged()).toEqual([]);
  });

  it.runIf(isDeep)('contains the remedy when a command needed a network or a masked file', async () => {
    await callOwn('mode', { to: 'diagnose', reason: 'I look at explore first' });
    world.write('.env', 'SECRET=1');
    const command = 'test -s .env || { echo "no secret in .env" >&2; cat </dev/tcp/192.0.2.1/80; }';
    const { input } = await world.call('Bash', { command });
    const [, ticket = ''] = /run ([0-9a-f]{32}); exit;\n/.exec(String(input?.['command'])) ?? [];
    const { stderr } = await executeRunTicket(world.host, ticket, new AbortController().signal);
    expect(stderr).toMatch(
      /hopgate says: Empty here, because they are masked: \.env\..*\nhopgate says: There is no network/,
    );
  });

  it('closes a call whose end nobody reported', async () => {
    await world.lead('edit', 'execute');
    await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    await world.sendEvent('Stop', { stop_hook_active: true });
    const { items } = await transcript();
    expect(items.at(-1)).toMatchObject({ kind: 'result', status: 'error' });
  });

  it('records that a call was changed by another hook after hopgate had allowed it', async () => {
    await world.lead('edit', 'execute');
    const { id } = await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    const ran = { file_path: world.path('src/c.js'), content: 'b' };
    await world.sendEvent('PostToolUse', { tool_name: 'Write', tool_use_id: id, tool_input: ran, tool_response: {} });
    expect(await judged()).toContain('P-1 Write did not go through the session');
  });
});

describe('the transcript of a sub-agent', () => {
  it('is separate, includes calls over its parent’s connection, and ends when it stops', async () => {
    await callOwn('mode', { to: 'diagnose', reason: 'I look at explore first' });
    await world.sendEvent('SubagentStart', child);
    await (await native('Read', { file_path: world.path('src/a.js') }, { file: {} }, child))();
    await callOwn('grep', { pattern: 'one' }, child);
    await world.call(own('hop'), { to: 'edit' }, child);
    await callOwn('hop', { to: 'edit', exit: 'hop-edit', reason: 'I hop from explore to edit' });
    await world.call('Glob', { pattern: '*' }, child); // the parent has no session any more
    await world.sendEvent('SubagentStop', { ...child, last_assistant_message: 'I read a.js in explore.' });
    await world.host.close(); // the next read opens it again

    const { items } = await transcript('a1');
    expect(items.flatMap((item) => (item.kind === 'call' ? [item.tool] : []))).toEqual([
      'read',
      'grep',
      own('hop'),
      'glob',
      'stop',
    ]);
    const places = (found: readonly string[]) => found.filter((reason) => !reason.startsWith('P-5'));
    expect(places(await judged('a1'))).toEqual([]);
    expect(await judged()).toEqual([]);
    expect((await world.evidence('a1')).join('; ')).toContain('step grep ok');
    expect((await world.evidence()).join('; ')).not.toContain('grep');
  });
});
