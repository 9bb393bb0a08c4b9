import type {
  HookInput,
  HookJSONOutput,
  McpSdkServerConfigWithInstance,
  Options,
} from '@anthropic-ai/claude-agent-sdk';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  agentSession,
  type ClaudeAgentOptions,
  claudeAgentOptions,
  type GatedOptions,
} from '../../src/adapters/claude-agent-sdk.ts';
import type { AgentSession } from '../../src/adapters/core/agent-session.ts';
import { type AgentDriver, describeAgentAdapter, type Scene, type SeenTurn } from '../contracts/agent-adapter.ts';
import { agentWorld } from '../contracts/agent-world.ts';
import { depth } from '../depth.ts';

const OURS = 'mcp__hopgate__';
const BASE = { session_id: 's', transcript_path: '', cwd: '/' };

/** A double of Claude Code: it calls the hooks and the server of the options. */
async function program(options: Pick<GatedOptions, 'mcpServers' | 'hooks'>) {
  const { instance } = options.mcpServers['hopgate'] as McpSdkServerConfigWithInstance;
  const [near, far] = InMemoryTransport.createLinkedPair();
  await instance.connect(far as never);
  const client = new Client({ name: 'program', version: '1' });
  await client.connect(near);
  const hook = async (input: HookInput): Promise<HookJSONOutput[]> => {
    const { signal } = new AbortController();
    const matchers = options.hooks[input.hook_event_name] ?? [];
    return Promise.all(matchers.flatMap(({ hooks }) => hooks.map((one) => one(input, undefined, { signal }))));
  };
  const judge = async (tool_name: string, tool_input: unknown) => {
    const [answer] = await hook({ ...BASE, hook_event_name: 'PreToolUse', tool_name, tool_input, tool_use_id: 't' });
    const output = answer && 'hookSpecificOutput' in answer ? answer.hookSpecificOutput : undefined;
    return output?.hookEventName === 'PreToolUse' ? output : undefined;
  };
  return { client, hook, judge };
}

const textOf = ({ content }: { content: readonly { type: string }[] }): string =>
  content.map((block) => ('text' in block ? String(block.text) : '')).join('\n');

const driver: AgentDriver = {
  lacks: { malformedArguments: 'what is not JSON never becomes a call of the program' },
  async play({ agentSession, script, person }: Scene) {
    const options = await claudeAgentOptions(agentSession, { approve: (request) => person(JSON.stringify(request)) });
    const { client, judge } = await program(options);
    const seen: SeenTurn[] = [];
    let results: readonly string[] = [];
    for (const turn of script) {
      const { tools } = await client.listTools();
      const instructions = (options.systemPrompt as { append: string }).append;
      seen.push({ offered: tools.map(({ name }) => name), instructions, results });
      if ('say' in turn) break;
      results = await Promise.all(
        turn.calls.map(async ({ name, input }) => {
          if (typeof input === 'string') return `the program could not read ${input}`;
          const { permissionDecision, permissionDecisionReason } = (await judge(OURS + name, input)) ?? {};
          if (permissionDecision !== 'allow') return `${permissionDecisionReason}`;
          return textOf(await client.callTool({ name, arguments: input }));
        }),
      );
    }
    await client.close();
    return seen;
  },
};

describeAgentAdapter('the Claude Agent SDK (its parts in this process)', () => driver, depth('few', 'all'));

describe('the options for the Claude Agent SDK', () => {
  const prepare = async (
    options: ClaudeAgentOptions = {},
    change: (session: AgentSession) => AgentSession = (s) => s,
  ) => {
    const world = await agentWorld('explore');
    const session = await world.open();
    const made = (await claudeAgentOptions(change(agentSession(session)), options)) satisfies Options;
    return { session, made, ...(await program(made)) };
  };
  const broken = (session: AgentSession): AgentSession => ({
    ...session,
    call: () => Promise.reject(new Error('the disk is full')),
  });

  it('give the program no tool, no settings file and no server of its own', async () => {
    const { made } = await prepare();
    expect(made).toMatchObject({ tools: [], settingSources: [], strictMcpConfig: true });
    expect(Object.keys(made.mcpServers)).toEqual(['hopgate']);
  });

  it('make every hook block the call if the hook fails', async () => {
    const { made } = await prepare();
    const matchers = Object.values(made.hooks).flat();
    expect(matchers.length).toBeGreaterThan(3);
    for (const { onFailure, matcher } of matchers) expect({ onFailure, matcher }).toEqual({ onFailure: 'block' });
  });

  it.each(['Bash', 'Read', 'Task', 'mcp__other__read', 'mcp__hopgate', 'hopgate'])(
    'refuse %s with the remedy, and record the refusal',
    async (name) => {
      const { judge, made, session } = await prepare();
      const decision = await judge(name, { command: 'ls' });
      expect(decision).toMatchObject({ permissionDecision: 'deny' });
      expect(decision?.permissionDecisionReason).toMatch(/unknown-tool.*Available in explore: read/s);
      expect(session.state.denials).toBe(1);
      const signal = new AbortController().signal;
      const asked = await made.canUseTool(name, {}, { signal, toolUseID: 't', requestId: 'r' });
      expect(asked).toMatchObject({ behavior: 'deny', message: expect.stringMatching(/unknown-tool/) });
    },
  );

  it('pass a call of a hopgate tool to the server, which decides it', async () => {
    const { judge, made, client, session } = await prepare();
    expect(await judge('mcp__hopgate__write', {})).toMatchObject({ permissionDecision: 'allow' });
    const signal = new AbortController().signal;
    const input = { path: 'src/new.js', content: '' };
    const asked = await made.canUseTool('mcp__hopgate__write', input, { signal, toolUseID: 't', requestId: 'r' });
    expect(asked).toEqual({ behavior: 'allow', updatedInput: input });
    expect(session.state.denials).toBe(0);
    const answer = await client.callTool({ name: 'write', arguments: input });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toMatch(/tool-not-allowed: explore has no tool write/);
  });

  it('allow an answer in the program’s own format', async () => {
    const { judge, session } = await prepare();
    expect(await judge('StructuredOutput', { found: true })).toMatchObject({ permissionDecision: 'allow' });
    expect(session.state.denials).toBe(0);
  });

  it('refuse a server that only has hopgate’s name', async () => {
    const { hook } = await prepare();
    const call = { ...BASE, tool_name: 'mcp__hopgate__read', tool_input: {}, tool_use_id: 't' };
    const from = (source: string) =>
      hook({ ...call, hook_event_name: 'PreToolUse', mcp_server: { name: 'hopgate', source } } as HookInput);
    expect(await from('sdk')).toMatchObject([{ hookSpecificOutput: { permissionDecision: 'allow' } }]);
    expect(await from('project')).toMatchObject([{ hookSpecificOutput: { permissionDecision: 'deny' } }]);
  });

  it('put the program’s instructions before the agent’s place', async () => {
    const { made } = await prepare({ append: 'You mend sums.' });
    expect(made.systemPrompt).toMatchObject({ append: expect.stringMatching(/^You mend sums\.\n\n.*explore/s) });
  });

  it('repeat the agent’s place only after a change or a compaction', async () => {
    const { hook, session } = await prepare();
    const start = (source: 'startup' | 'compact') => hook({ ...BASE, hook_event_name: 'SessionStart', source });
    const prompt = () => hook({ ...BASE, hook_event_name: 'UserPromptSubmit', prompt: 'go on' });
    const telling = (text: string) => [{ hookSpecificOutput: { additionalContext: expect.stringContaining(text) } }];
    expect(await start('startup')).toEqual([{}]);
    expect(await prompt()).toEqual([{}]);
    await session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'enough' });
    await session.hop({ to: 'edit', exit: 'found-target', reason: 'found' });
    expect(await prompt()).toMatchObject(telling(session.state.peripheral ?? ''));
    expect(await prompt()).toEqual([{}]);
    expect(await start('compact')).toMatchObject(telling(session.state.peripheral ?? ''));
    expect(await start('startup')).toMatchObject(telling(session.state.peripheral ?? ''));
  });

  it('report a failing store as an error that ends the run, not as a refusal', async () => {
    const { client, judge, hook } = await prepare({}, broken);
    const ended = () => hook({ ...BASE, hook_event_name: 'PostToolBatch', tool_calls: [] });
    expect(await ended()).toEqual([{}]);
    await expect(client.callTool({ name: 'read', arguments: { path: 'README.md' } })).rejects.toThrow(
      'the disk is full',
    );
    await expect(judge('Bash', {})).rejects.toThrow('the disk is full');
    expect(await ended()).toEqual([{ continue: false, stopReason: 'hopgate: Error: the disk is full' }]);
    expect(await ended()).toEqual([{}]);
  });

  it('can be used for a second query', async () => {
    const { made, client } = await prepare();
    await client.close();
    const again = await program(made);
    const answer = await again.client.callTool({ name: 'read', arguments: { path: 'README.md' } });
    expect(textOf(answer)).toContain('A repository');
  });

  it('ask the session’s own approver if the adapter has none', async () => {
    const world = await agentWorld('explore');
    const asked: string[] = [];
    const session = await world.open({ approver: ({ action }) => asked.push(action.to) > 0 });
    const { client } = await program(await claudeAgentOptions(agentSession(session)));
    await client.callTool({ name: 'mode', arguments: { to: 'execute', reason: 'to mend' } });
    expect([asked, session.state.mode]).toEqual([['execute'], 'execute']);
  });
});
