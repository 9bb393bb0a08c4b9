import { expect, it, onTestFinished } from 'vitest';
import { SERVER } from '../server-name.ts';
import { acpEditor } from './acp-editor.ts';
import { ClaudeWorld, call } from './claude-world.ts';
import { scriptedModel } from './messages-server.ts';

/** The real program, if the environment names it: `npm i @agentclientprotocol/claude-agent-acp`. */
const CLAUDE_ACP_BIN = process.env['CLAUDE_ACP_BIN'];

it.skipIf(!CLAUDE_ACP_BIN)(
  'claude-agent-acp works behind the gate, and finds its conversation and its session after a restart of the editor',
  async () => {
    const tool = (name: string, input: object) => call(`mcp__${SERVER}__${name}`, input);
    const world = new ClaudeWorld();
    onTestFinished(() => world.close());
    const model = await scriptedModel({
      main: [
        tool('mode', { to: 'diagnose', reason: 'look' }),
        tool('read', { path: 'src/a.js' }),
        tool('hop', { to: 'deploy', reason: 'ship it' }),
        call('Bash', { command: 'echo mine > made.txt' }),
        tool('mode', { to: 'execute', reason: 'it is clear' }),
        { text: 'I have looked.' },
        tool('status', {}),
        tool('edit', { path: 'src/a.js', old: 'one', new: 'two' }),
        { text: 'I know where I am.' },
      ],
    });
    onTestFinished(() => model.close());
    const results = () => model.requests.flatMap((request) => request.results.map(({ text }) => text));
    const env = { ...world.env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}` };

    const before = await acpEditor(world.root, env, CLAUDE_ACP_BIN!);
    const { sessionId, modes } = await before.agent.request('session/new', { cwd: world.root, mcpServers: [] });
    expect(modes?.currentModeId).toBe('explore');
    await before.prompt(sessionId, 'Look at the file.');
    expect(results()).toEqual([
      expect.stringContaining('mode diagnose'),
      expect.stringContaining('one'),
      expect.stringContaining('deploy'),
      expect.stringMatching(/No such tool available: Bash/),
      expect.stringContaining('mode execute'),
    ]);
    expect(before.asked).toHaveLength(1);
    expect([world.read('src/a.js'), world.read('made.txt')]).toEqual(['one\n', null]);
    await before.quit();

    const here = await acpEditor(world.root, env, CLAUDE_ACP_BIN!);
    const { sessions } = await here.agent.request('session/list', { cwd: world.root });
    expect(sessions).toMatchObject([{ sessionId, title: 'Look at the file.' }]);
    const place = await here.agent.request('session/load', { sessionId, cwd: world.root, mcpServers: [] });
    expect(place.configOptions?.find(({ id }) => id === 'hopgate-mode')).toMatchObject({ currentValue: 'execute' });
    expect(here.repeated()).toEqual(['Look at the file.']);
    await here.agent.request('session/set_mode', { sessionId, modeId: 'edit' });
    await here.prompt(sessionId, 'Where are you?');
    expect(results()[5]).toContain(sessionId);
    expect(world.read('src/a.js')).toBe('two\n');
    await here.quit();
    expect(await world.hopgate('verify', sessionId)).toMatchObject({ code: 0 });
  },
);
