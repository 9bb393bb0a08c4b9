import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  type ClientContext,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isDeep } from '../depth.ts';
import { MAIN, repository } from './mcp.ts';
import { folder, type Machine } from './run.ts';

const INNER = resolve('test/cli/acp-inner-agent.ts');

interface Editor {
  readonly agent: ClientContext;
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
  readonly root: string;
  /** Sends the inner agent a script and returns the results. */
  act(sessionId: string, ...acts: readonly object[]): Promise<unknown[]>;
  readonly ended: Promise<number | null>;
  /** Ends the editor, as its user does. */
  quit(): Promise<unknown>;
}

/** A real `hopgate acp` around the scripted agent, and the SDK's client in the place of an editor. */
async function editor(
  here: Machine,
  {
    options = [],
    answer = () => 'allow',
    inner = [],
  }: { options?: string[]; answer?: () => string; inner?: string[] } = {},
): Promise<Editor> {
  const argv = [MAIN, 'acp', '--root', here.root, ...options, '--', process.execPath, INNER, ...inner];
  const child = spawn(process.execPath, argv, { env: { ...here.env }, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [updates, asked]: [SessionUpdate[], RequestPermissionRequest[]] = [[], []];
  const app = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: 'selected', optionId: answer() } };
    });
  const connection = app.connect(
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    ),
  );
  onTestFinished(async () => {
    connection.close();
    child.stdin.end();
    child.kill();
    await ended;
  });
  const { agent } = connection;
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  return {
    agent,
    updates,
    asked,
    root: here.root,
    ended,
    quit() {
      child.stdin.end();
      return ended;
    },
    async act(sessionId, ...acts) {
      const firstNew = updates.length;
      await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: JSON.stringify(acts) }] });
      const chunk = updates.slice(firstNew).find((update) => update.sessionUpdate === 'agent_message_chunk');
      return JSON.parse(chunk?.content.type === 'text' ? chunk.content.text : 'null') as unknown[];
    },
  };
}

const opened = ({ agent, root }: Editor) => agent.request('session/new', { cwd: root, mcpServers: [] });

it.runIf(isDeep)('hopgate acp offers the peripherals as modes and options, and follows each hop', async () => {
  const here = await editor(await repository(), { options: ['--peripheral', 'explore', '--approve', 'execute'] });
  const { sessionId, modes, configOptions } = await opened(here);
  expect(modes?.currentModeId).toBe('explore');
  expect(modes?.availableModes.map(({ id }) => id)).toContain('edit');
  expect(configOptions?.map(({ id }) => id)).toEqual(['hopgate-peripheral', 'hopgate-mode', 'model']);

  await here.agent.request('session/set_mode', { sessionId, modeId: 'edit' });
  expect(here.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(['config_option_update']);

  await here.act(sessionId, { do: 'mcp', tool: 'hop', args: { to: 'discipline', reason: 'choose a pattern' } });
  expect(here.updates).toContainEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'discipline' });

  const changed = await here.agent.request('session/set_config_option', {
    sessionId,
    configId: 'hopgate-peripheral',
    value: 'edit',
  });
  expect(changed.configOptions[0]).toMatchObject({ id: 'hopgate-peripheral', currentValue: 'edit' });
  await expect(here.agent.request('session/set_mode', { sessionId, modeId: 'deploy' })).rejects.toThrow(/deploy/);
});

it('hopgate acp decides about the file and terminal requests of the ACP agent, keeps its own tools out of the repository, and asks the editor for an approval, in which only the choice "allow" leads to execute', async () => {
  const machine = await repository();
  const choices = ['reject', 'something else', 'allow'];
  const left = [...choices];
  const here = await editor(machine, { options: ['--peripheral', 'explore'], answer: () => left.shift()! });
  const { sessionId } = await opened(here);
  const own = join(machine.root, 'own.txt');
  const [, read, write, shell, ownTool, situation] = await here.act(
    sessionId,
    { do: 'mcp', tool: 'mode', args: { to: 'diagnose' } },
    { do: 'read', path: 'src/sum.js' },
    { do: 'write', path: 'src/sum.js', content: 'gone' },
    { do: 'terminal', command: 'cat src/sum.js' },
    { do: 'own', path: own },
    { do: 'situation' },
  );
  const text = readFileSync(join(machine.root, 'src/sum.js'), 'utf8');
  expect(read).toEqual({ content: text });
  expect(text).toContain('a - b');
  expect(write).toMatchObject({ data: { code: 'tool-not-allowed' } });
  expect(shell).toMatchObject({ exitStatus: { exitCode: expect.any(Number) } });
  expect(ownTool).toMatchObject({ error: expect.stringContaining('EROFS') });
  expect(existsSync(own)).toBe(false);
  expect(situation).toMatchObject({ type: 'text', text: expect.stringContaining('explore') });

  const modes = [];
  for (const choice of choices) {
    await here.act(sessionId, { do: 'mcp', tool: 'mode', args: { to: 'execute', reason: `after ${choice}` } });
    const changes = here.updates.filter((update) => update.sessionUpdate === 'config_option_update');
    modes.push([
      changes.length,
      changes.at(-1)?.configOptions.find(({ id }) => id === 'hopgate-mode')?.currentValue,
      here.asked.length,
    ]);
  }
  expect(modes).toEqual([
    [1, 'diagnose', 1],
    [1, 'diagnose', 2],
    [2, 'execute', 3],
  ]);
  for (const { sessionId: of, options } of here.asked)
    expect([of, options.map(({ kind }) => kind)]).toEqual([sessionId, ['allow_once', 'reject_once']]);
});

it.runIf(isDeep)('hopgate acp allows only the permission requests for its own tools', async () => {
  const here = await editor(await repository(), { options: ['--peripheral', 'explore'] });
  const { sessionId } = await opened(here);
  const answers = await here.act(
    sessionId,
    { do: 'ask', title: 'mcp__SERVER__read' },
    { do: 'ask', title: 'Bash: echo mcp__SERVER__read' },
    { do: 'ask', title: 'mcp__hopgate__read' },
  );
  expect(answers).toEqual(['yes', 'no', 'no'].map((optionId) => ({ outcome: { outcome: 'selected', optionId } })));
  expect(here.asked).toEqual([]);
  expect(here.updates.filter((update) => update.sessionUpdate === 'tool_call_update')).toHaveLength(2);
});

it.runIf(isDeep)(
  'hopgate acp refuses a folder outside the repository, and an agent that cannot use its MCP server',
  async () => {
    const machine = await repository();
    const here = await editor(machine);
    const elsewhere = here.agent.request('session/new', { cwd: '/tmp', mcpServers: [] });
    await expect(elsewhere).rejects.toThrow(/\/tmp is outside of/);
    await expect(opened(await editor(machine, { inner: ['without-http'] }))).rejects.toThrow(/over HTTP/);
  },
);

describe('an editor that restarts', () => {
  const withHistory = () => ({ inner: ['with-history', join(folder(), 'history.json')] });

  it.runIf(isDeep).each(['session/load', 'session/resume'] as const)(
    'finds its conversation with its session: %s',
    async (method) => {
      const machine = await repository();
      const options = { options: ['--peripheral', 'explore'], ...withHistory() };
      const before = await editor(machine, options);
      const { sessionId } = await opened(before);
      await before.act(sessionId, { do: 'mcp', tool: 'mode', args: { to: 'diagnose' } });
      await before.quit();

      const here = await editor(machine, options);
      const { sessions } = await here.agent.request('session/list', { cwd: here.root });
      expect(sessions).toEqual([
        { sessionId, cwd: here.root, title: 'title of inner-1', updatedAt: expect.stringMatching(/Z$/) },
      ]);
      const place = await here.agent.request(method, { sessionId, cwd: here.root, mcpServers: [] });
      expect(place).toMatchObject({ modes: { currentModeId: 'explore' } });
      expect(place.configOptions?.find(({ id }) => id === 'hopgate-mode')).toMatchObject({ currentValue: 'diagnose' });
      // The person's words come back without the situation that was put before them.
      expect(here.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(
        method === 'session/load' ? ['user_message_chunk', 'agent_message_chunk'] : [],
      );
      expect(JSON.stringify(here.updates[0] ?? '')).not.toContain('Where you are');
      const [, status] = await here.act(
        sessionId,
        { do: 'mcp', tool: 'read', args: { path: 'src/sum.js' } },
        { do: 'mcp', tool: 'status', args: {} },
      );
      expect(JSON.stringify(status)).toContain(sessionId);
    },
  );

  it.runIf(isDeep)('continues no unknown or deleted conversation, and no conversation of another agent', async () => {
    const machine = await repository();
    const options = withHistory();
    const before = await editor(machine, options);
    const { sessionId } = await opened(before);
    const load = ({ agent, root }: Editor, id: string) =>
      agent.request('session/load', { sessionId: id, cwd: root, mcpServers: [] });
    await before.agent.request('session/close', { sessionId });
    await expect(before.act(sessionId)).rejects.toThrow(/there is no session/);
    await load(before, sessionId);
    await before.quit();

    const other = await editor(machine);
    expect((await other.agent.request('session/list', {})).sessions).toEqual([]);
    await expect(load(other, sessionId)).rejects.toThrow(/no open conversation/);
    const here = await editor(machine, options);
    await expect(load(here, '../../x')).rejects.toThrow(/no open conversation/);
  });
});
