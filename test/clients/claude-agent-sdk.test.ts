import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type HookCallback, type Options, query, type SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  agentSession,
  type ClaudeAgentOptions,
  claudeAgentOptions,
  type GatedOptions,
} from '../../src/adapters/claude-agent-sdk.ts';
import type { AgentSession } from '../../src/adapters/core/agent-session.ts';
import { type AgentDriver, describeAgentAdapter, type Scene } from '../contracts/agent-adapter.ts';
import { agentWorld } from '../contracts/agent-world.ts';
import { blocksOf } from '../docs/blocks.ts';
import { machine } from '../docs/machine.ts';
import { CLAUDE_BIN } from './claude-world.ts';
import { type Model, type Step, scriptedModel } from './messages-server.ts';

const OURS = 'mcp__hopgate__';

/** A separate home, a blocked network, and a scripted model. */
function environment({ port }: Model): { readonly [name: string]: string } {
  const home = mkdtempSync(join(tmpdir(), 'hopgate-cas-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const closed = 'http://127.0.0.1:9';
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: home,
    HTTP_PROXY: closed,
    HTTPS_PROXY: closed,
    NO_PROXY: '127.0.0.1,localhost',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'a-dummy-for-the-loopback-interface',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  };
}

/** Plays a script through the SDK and the real program. */
async function play(
  session: AgentSession,
  cwd: string,
  script: readonly Step[],
  own: ClaudeAgentOptions = {},
  more: Options | ((made: GatedOptions) => Options) = {},
) {
  const model = await scriptedModel({ main: script });
  const options = await claudeAgentOptions(session, own);
  const messages: SDKMessage[] = [];
  try {
    const added = typeof more === 'function' ? more(options) : more;
    const program = { cwd, env: environment(model), pathToClaudeCodeExecutable: CLAUDE_BIN ?? '' };
    for await (const message of query({ prompt: 'Mend sum.', options: { ...options, ...program, ...added } }))
      messages.push(message);
    return { messages, requests: model.requests, ended: messages.find(({ type }) => type === 'result') };
  } finally {
    await model.close();
  }
}

const driver: AgentDriver = {
  lacks: {
    changingTools: 'the program still shows its model the tools that are gone',
    absentTools: 'the program answers calls of tools that the server does not list',
    unknownTools: 'the program answers calls of tools that it does not know',
    malformedArguments: 'what is not JSON never becomes a call of the program',
    instructions: 'they are in the system prompt, which the stand-in for the API does not keep',
  },
  async play({ agentSession, session, script, person }: Scene) {
    const steps = script.map((turn) =>
      'say' in turn
        ? { text: turn.say }
        : { calls: turn.calls.map(({ name, input }) => ({ name: OURS + name, input: input as object })) },
    );
    const { requests } = await play(agentSession, session.root, steps, {
      approve: (request) => person(JSON.stringify(request)),
    });
    return requests.map(({ tools, results, texts }) => ({
      offered: tools.flatMap((name) => (name.startsWith(OURS) ? [name.slice(OURS.length)] : [])),
      instructions: texts.join('\n'),
      results: results.map(({ text }) => text),
    }));
  },
};

describe.skipIf(!CLAUDE_BIN)('the real Claude Agent SDK', () => {
  describeAgentAdapter('the Claude Agent SDK', () => driver);
});

const call = (name: string, input: object): Step => ({ calls: [{ name, input }] });

describe.skipIf(!CLAUDE_BIN)('a session of the Claude Agent SDK', () => {
  it('gives the program no tool of its own', async () => {
    const world = await agentWorld('edit');
    const session = await world.open();
    const script = [
      call('Write', { file_path: join(world.root, 'src/new.js'), content: 'x' }),
      call('Bash', { command: 'touch src/new.js' }),
      call('Agent', { description: 'd', prompt: 'write src/new.js', subagent_type: 'general-purpose' }),
      { text: 'I cannot.' },
    ];
    const { requests } = await play(agentSession(session), world.root, script);
    expect(requests).toHaveLength(4);
    for (const { tools, results } of requests) {
      expect(tools.filter((name) => !name.startsWith(OURS) && name !== 'DeferredToolPlaceholder')).toEqual([]);
      for (const { failed } of results) expect(failed).toBe(true);
    }
    expect(() => world.read('src/new.js')).toThrow();
  });

  it('refuses by its hook a tool that the program’s own options allow', async () => {
    const world = await agentWorld('edit');
    const session = await world.open();
    const script = [call('Write', { file_path: join(world.root, 'src/new.js'), content: 'x' }), { text: 'I cannot.' }];
    const { requests } = await play(
      agentSession(session),
      world.root,
      script,
      {},
      {
        tools: ['Write'],
        permissionMode: 'acceptEdits',
      },
    );
    expect(requests[1]?.results).toMatchObject([
      { name: 'Write', failed: true, text: expect.stringMatching(/unknown-tool/) },
    ]);
    expect(() => world.read('src/new.js')).toThrow();
    expect(session.state.denials).toBe(1);
  });

  it('keeps its hooks enabled whatever a repository’s settings say', async () => {
    const world = await agentWorld('edit');
    const session = await world.open();
    mkdirSync(join(world.root, '.claude'));
    const settings = { disableAllHooks: true, permissions: { allow: ['Write'] } };
    writeFileSync(join(world.root, '.claude/settings.json'), JSON.stringify(settings));
    const script = [call('Write', { file_path: join(world.root, 'src/new.js'), content: 'x' }), { text: 'I cannot.' }];
    const { requests } = await play(agentSession(session), world.root, script, {}, { tools: ['Write'] });
    expect(requests[1]?.results).toMatchObject([{ failed: true, text: expect.stringMatching(/unknown-tool/) }]);
    expect(() => world.read('src/new.js')).toThrow();
  });

  it('keeps a hop in order among the calls of a turn, however long its hook takes', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const hop = { name: `${OURS}hop`, input: { to: 'edit', exit: 'found-target', reason: 'found' } };
    const script = [{ calls: [hop, { name: `${OURS}grep`, input: { pattern: 'x' } }] }, { text: 'Done.' }];
    const slow: HookCallback = async (input) => {
      if (input.hook_event_name === 'PreToolUse' && input.tool_name === hop.name) await setTimeout(500);
      return {};
    };
    const { requests } = await play(agentSession(session), world.root, script, {}, ({ hooks }) => ({
      hooks: { ...hooks, PreToolUse: [...(hooks.PreToolUse ?? []), { hooks: [slow] }] },
    }));
    expect(requests[1]?.results.map(({ failed }) => failed)).toEqual([false, true]);
    expect(requests[1]?.results[1]?.text).toMatch(/edit has no tool grep/);
  });

  it('ends the run if the store fails', async () => {
    const world = await agentWorld('explore');
    const session = agentSession(await world.open());
    const broken: AgentSession = { ...session, call: () => Promise.reject(new Error('the disk is full')) };
    const read = call(`${OURS}read`, { path: 'README.md' });
    const messages: unknown[] = [];
    const { requests, ended } = await play(broken, world.root, [read, read, read, { text: 'Done.' }], {
      onError: (error) => messages.push(error),
    });
    expect(requests).toHaveLength(1);
    expect(ended).toMatchObject({ terminal_reason: 'hook_stopped' });
    expect(messages).toEqual([new Error('the disk is full')]);
  });

  it('blocks the call if a hook fails', async () => {
    const world = await agentWorld('edit');
    const session = agentSession(await world.open());
    const broken: AgentSession = { ...session, call: () => Promise.reject(new Error('the disk is full')) };
    const script = [call('Write', { file_path: join(world.root, 'src/new.js'), content: 'x' }), { text: 'I cannot.' }];
    await play(broken, world.root, script, {}, { tools: ['Write'], permissionMode: 'acceptEdits' });
    expect(() => world.read('src/new.js')).toThrow();
  });

  it('uses the same options for several queries in a row', async () => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const agent = agentSession(session);
    const hop = call(`${OURS}hop`, { to: 'edit', exit: 'found-target', reason: 'found' });
    const { ended } = await play(agent, world.root, [hop, { text: 'Moved.' }]);
    expect(ended).toMatchObject({ subtype: 'success', result: 'Moved.' });
    const { requests } = await play(agent, world.root, [call(`${OURS}read`, { path: 'README.md' }), { text: 'Done.' }]);
    expect(requests[0]?.tools).not.toContain(`${OURS}grep`);
    expect(requests[1]?.results[0]?.text).toContain('A repository');
  });

  it('works as the recipe shows', async () => {
    const [block, shown] = blocksOf('docs/recipes/claude-agent-sdk.md').filter(
      ({ lang }) => lang === 'ts' || lang === 'text',
    );
    const edit = call(`${OURS}edit`, { path: 'src/cart.js', old: '// TODO: discounts', new: '// no discounts' });
    const model = await scriptedModel({
      main: [
        call(`${OURS}hop`, { to: 'test', reason: 'to begin with the tests' }),
        {
          calls: [
            { name: `${OURS}hop`, input: { to: 'edit', exit: 'found-target', reason: 'the TODO is in src/cart.js' } },
            { name: `${OURS}grep`, input: { pattern: 'TODO' } },
          ],
        },
        call(`${OURS}mode`, { to: 'execute', reason: 'a small change was asked for' }),
        edit,
        { text: 'The TODO is settled.' },
      ],
    });
    const on = machine();
    on.write('claude-agent.ts', block?.text ?? '');
    const { HOME: _, PATH: __, ...set } = environment(model);
    const exports = Object.entries({ ...set, CLAUDE_BIN }).map(([name, value]) => `export ${name}='${value}'`);
    try {
      const hooks = join(on.root, '../tools/hooks.mjs');
      const ran = await on.bash(`${exports.join('\n')}\nnode --import 'file://${hooks}' claude-agent.ts`);
      expect(ran.all).toBe(shown?.text);
      expect(ran.code).toBe(0);
    } finally {
      await model.close();
    }
  });
});
