import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream, type SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { SERVER } from '../server-name.ts';
import { type CodexWorld, codexWorld, writeTree } from './codex-world.ts';

/** The real program, if the environment names it: `npm i @agentclientprotocol/codex-acp`. */
const CODEX_ACP_BIN = process.env['CODEX_ACP_BIN'];

/** A real `hopgate acp` around codex-acp, and the SDK's client in the place of an editor. */
async function editor({ env }: CodexWorld, root: string) {
  const argv = [resolve('src/cli/main.ts'), 'acp', '--root', root, '--', CODEX_ACP_BIN ?? ''];
  const child = spawn(process.execPath, argv, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('close', done));
  const updates: SessionUpdate[] = [];
  const { agent } = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  const quit = () => {
    child.stdin.end();
    return ended;
  };
  onTestFinished(async () => void (await quit()));
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const prompt = (sessionId: string, text: string) =>
    agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  return { agent, updates, prompt, quit };
}

it.skipIf(!CODEX_ACP_BIN)(
  'codex-acp finds its conversation and its session after a restart of the editor',
  async () => {
    const tool = (name: string, input: object = {}) => ({
      calls: [{ namespace: `mcp__${SERVER}`, name, input }],
    });
    const world = await codexWorld({
      modelName: 'gpt-5.5',
      scripts: {
        main: [
          tool('mode', { to: 'diagnose', reason: 'look' }),
          tool('read', { path: 'src/a.js' }),
          { calls: [{ name: 'exec_command', input: { cmd: 'cat README.md; echo mine > made.txt' } }] },
          { text: 'I have looked.' },
          tool('status'),
          { text: 'I know where I am.' },
        ],
      },
    });
    onTestFinished(() => world.close());
    const root = `${world.folder}/repo`;
    writeTree(root, { 'README.md': 'read me\n', 'src/a.js': 'one\n' });
    execFileSync('git', ['init', '-q', '-b', 'main', root]);

    const before = await editor(world, root);
    const { sessionId } = await before.agent.request('session/new', { cwd: root, mcpServers: [] });
    await before.prompt(sessionId, 'Look at the file.');
    const [, mode, read, shell] = world.model.requests.map(({ results }) => results.map(({ text }) => text).join());
    expect([mode, read]).toEqual([expect.stringContaining('mode diagnose'), expect.stringContaining('one')]);
    // Its own shell does not see the repository.
    expect(shell).not.toContain('read me');
    expect(existsSync(`${root}/made.txt`)).toBe(false);
    await before.quit();

    const here = await editor(world, root);
    const { sessions } = await here.agent.request('session/list', { cwd: root });
    expect(sessions).toMatchObject([{ sessionId, title: 'Look at the file.' }]);
    const place = await here.agent.request('session/load', { sessionId, cwd: root, mcpServers: [] });
    expect(place.configOptions?.find(({ id }) => id === 'hopgate-mode')).toMatchObject({ currentValue: 'diagnose' });
    expect(
      here.updates.flatMap((update) =>
        'content' in update && update.sessionUpdate === 'user_message_chunk' ? [update.content] : [],
      ),
    ).toEqual([{ type: 'text', text: 'Look at the file.' }]);
    await here.prompt(sessionId, 'Where are you?');
    expect(world.model.requests.at(-1)?.results[0]?.text).toContain(sessionId);
  },
);
