import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { SERVER } from '../server-name.ts';
import { acpEditor } from './acp-editor.ts';
import { codexWorld, writeTree } from './codex-world.ts';

/** The real program, if the environment names it: `npm i @agentclientprotocol/codex-acp`. */
const CODEX_ACP_BIN = process.env['CODEX_ACP_BIN'];

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

    const before = await acpEditor(root, world.env, CODEX_ACP_BIN!);
    const { sessionId } = await before.agent.request('session/new', { cwd: root, mcpServers: [] });
    await before.prompt(sessionId, 'Look at the file.');
    const [, mode, read, shell] = world.model.requests.map(({ results }) => results.map(({ text }) => text).join());
    expect([mode, read]).toEqual([expect.stringContaining('mode diagnose'), expect.stringContaining('one')]);
    // Codex's own shell does not see the repository.
    expect(shell).not.toContain('read me');
    expect(existsSync(`${root}/made.txt`)).toBe(false);
    await before.quit();

    const here = await acpEditor(root, world.env, CODEX_ACP_BIN!);
    const { sessions } = await here.agent.request('session/list', { cwd: root });
    expect(sessions).toMatchObject([{ sessionId, title: 'Look at the file.' }]);
    const place = await here.agent.request('session/load', { sessionId, cwd: root, mcpServers: [] });
    expect(place.configOptions?.find(({ id }) => id === 'hopgate-mode')).toMatchObject({ currentValue: 'diagnose' });
    expect(here.repeated()).toEqual(['Look at the file.']);
    await here.prompt(sessionId, 'Where are you?');
    expect(world.model.requests.at(-1)?.results[0]?.text).toContain(sessionId);
  },
);
