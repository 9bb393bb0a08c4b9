import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handleClaudeEvent } from '../../../src/adapters/claude-code/handle-claude-event.ts';
import type { AgentAnswer } from '../../../src/adapters/core/agent-session.ts';
import { carryOutSessionRequest } from '../../../src/daemon/session-request.ts';
import { trustCurrentConfig } from '../../../src/project/trust.ts';
import type { Json } from '../../../src/spec/types.ts';
import { isDeep, sample } from '../../depth.ts';
import { SERVER } from '../../server-name.ts';
import { World } from './claude-conversation.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const hop = `mcp__plugin_hopgate_${SERVER}__hop`;

describe('Claude Code’s message to the model', () => {
  it.each(sample(['startup', 'resume', 'clear', 'compact', 'fork'], 3))(
    'contains at SessionStart (%s) the agent’s place and its exits',
    async (source) => {
      const { context, answer } = await world.sendEvent('SessionStart', { source });
      expect(answer.exit).toBe(0);
      expect(context).toContain('explore');
      expect(context).toContain(hop);
    },
  );

  it('is repeated only after something has changed', async () => {
    const promptContext = async () => (await world.sendEvent('UserPromptSubmit', { prompt: 'go on' })).context;
    await world.sendEvent('SessionStart', { source: 'startup' });
    expect(await promptContext()).toBe('');
    await world.lead('explore', 'diagnose');
    expect(await promptContext()).toContain('in mode diagnose');
    expect(await promptContext()).toBe('');
    const { id } = await world.call(hop, { to: 'edit', exit: 'hop-edit', reason: 'x' });
    await world.session((session) => session.hop({ to: 'edit', exit: 'hop-edit', reason: 'x' }));
    await world.done(id, hop, {}); // the answer to the hop has shown the new place
    expect(await promptContext()).toBe('');
    expect((await world.sendEvent('SessionStart', { source: 'compact' })).context).toContain('"edit"');
    expect(await promptContext()).toBe('');
    const resumed = async () => (await world.sendEvent('SessionStart', { source: 'resume' })).context;
    expect(await resumed()).toBe('');
    await world.session((session) => session.hop({ to: 'test', exit: 'hop-test', reason: 'x' }));
    expect(await resumed()).toContain('"test"');
  });

  it('contains the current state with each prompt', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    const { context } = await world.sendEvent('UserPromptSubmit', { prompt: 'go on' });
    expect(context).toContain('edit');
    expect(context).toContain('execute');
  });

  it('is empty before a compaction', async () => {
    const { answer } = await world.sendEvent('PreCompact', { trigger: 'auto' });
    expect(answer).toEqual({ exit: 0, stdout: '', stderr: '' });
  });
});

describe('Claude Code’s message to the person', () => {
  const begin = async () => (await world.sendEvent('SessionStart', { source: 'startup' })).notice;

  it('says once that nobody has trusted hopgate.yaml', async () => {
    world.write('hopgate.yaml', 'specs: specs\n');
    expect(await begin()).toMatch(/hopgate.yaml is not trusted, .* run "hopgate trust"/);
    expect((await world.sendEvent('UserPromptSubmit', { prompt: 'x' })).notice).toBeNull();
  });

  it('says that hopgate.yaml differs from the trusted one', async () => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    await trustCurrentConfig(world.root, world.env);
    world.write('hopgate.yaml', 'scopes: { edit: [docs/, src/] }\n');
    expect(await begin()).toContain('differs from the file that you trusted');
  });

  it('is empty if hopgate.yaml is trusted and unchanged', async () => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    await trustCurrentConfig(world.root, world.env);
    expect(await begin()).toBeNull();
  });

  it('is empty if there is no hopgate.yaml', async () => {
    expect(await begin()).toBeNull();
  });
});

describe('instructions that import a masked file', () => {
  it('block the prompt and every file of their folder', async () => {
    await world.lead('explore', 'diagnose');
    world.write('.env', 'A=1');
    world.write('src/CLAUDE.md', '@../.env');
    const read = await world.call('Read', { file_path: world.path('src/a.js') });
    expect(read).toMatchObject({ verdict: 'blocked', reason: expect.stringContaining('src/CLAUDE.md imports') });
    expect((await world.call('Read', { file_path: world.path('README.md') })).verdict).toBe('allowed');
    const { answer } = await world.sendEvent('UserPromptSubmit', { prompt: 'begin' });
    expect(answer).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('add ".env" to "imports" in hopgate.yaml'),
    });
  });
});

describe('the Stop hook', () => {
  const work = async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    await world.session((session) => session.step({ tool: 'write', args: { path: 'src/a.js', content: 'two' } }));
  };

  it('asks once for the review, with the call that leads to it', async () => {
    await work();
    const first = await world.sendEvent('Stop', { stop_hook_active: false });
    expect(first.goOn).toContain('which is in edit');
    const call = /hop\((.*?)\)\)/.exec(first.goOn ?? '')?.[1] ?? '{}';
    expect(await world.session((session) => session.hop(JSON.parse(call)))).toMatchObject({ ok: true, to: 'reflect' });
    expect((await world.sendEvent('Stop', { stop_hook_active: false })).answer.stdout).toBe('');
  });

  it('does not ask if a hook already keeps the agent running', async () => {
    await work();
    expect((await world.sendEvent('Stop', { stop_hook_active: true })).goOn).toBeNull();
  });

  it('does not ask if the agent did nothing or only read', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    expect((await world.sendEvent('Stop', { stop_hook_active: false })).goOn).toBeNull();
    await world.lead('explore', 'diagnose');
    await world.session((session) => session.step({ tool: 'read', args: { path: 'src/a.js' } }));
    expect((await world.sendEvent('Stop', { stop_hook_active: false })).goOn).toBeNull();
  });

  it.runIf(isDeep)(
    'does not ask in a later turn that only answered or looked, and asks in the next one that worked',
    async () => {
      await work(); // an interrupted turn has no Stop
      const turn = async (step: { readonly tool: string; readonly args: { [name: string]: string } }) => {
        await world.sendEvent('UserPromptSubmit', { prompt: 'go on' });
        await world.session((session) => session.step(step));
        return (await world.sendEvent('Stop', { stop_hook_active: false })).goOn;
      };
      expect(await turn({ tool: 'read', args: { path: 'src/a.js' } })).toBeNull();
      expect(await turn({ tool: 'bash', args: { command: 'ls' } })).toBeNull();
      const write = { tool: 'write', args: { path: 'src/a.js', content: 'three' } };
      expect(await turn(write)).toContain('which is in edit');
      expect(await turn({ tool: 'write', args: { path: 'src/a.js', content: 'four' } })).toBeNull();
    },
  );

  it.runIf(isDeep)('never asks again after a review, also for later work', async () => {
    await work();
    await world.session((session) => session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'done' }));
    await world.session((session) => session.stop('reviewed'));
    expect(await world.session((session) => session.start('edit', { by: 'operator' }))).toMatchObject({ ok: true });
    const write = { tool: 'write', args: { path: 'src/a.js', content: 'more' } };
    expect(await world.session((session) => session.step(write))).toMatchObject({ ok: true });
    expect((await world.sendEvent('Stop', { stop_hook_active: false })).goOn).toBeNull();
  });

  it('does not ask after the work was reviewed', async () => {
    await work();
    await world.session((session) => session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'done' }));
    expect((await world.sendEvent('Stop', { stop_hook_active: false })).goOn).toBeNull();
    await world.session((session) => session.stop('reviewed'));
    expect((await world.sendEvent('Stop', { stop_hook_active: false })).goOn).toBeNull();
  });
});

describe('a sub-agent', () => {
  const child = { agent_id: 'a1', agent_type: 'general-purpose' };

  it('has its own session in its parent’s peripheral and mode, which it cannot leave', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    const { context } = await world.sendEvent('SubagentStart', child);
    expect(context).toContain('explore');
    const read = await world.call('Read', { file_path: world.path('src/a.js') }, child);
    expect(read.verdict).toBe('allowed');
    await world.done(read.id, 'Read', { file: { filePath: world.path('src/a.js'), content: 'one\n' } }, child);
    expect((await world.evidence('a1')).at(-1)).toBe('step read ok, read src/a.js');
    expect(await world.evidence()).not.toContain('step read ok, read src/a.js');
    for (const tool of ['hop', 'mode']) {
      const moved = await world.call(`mcp__plugin_hopgate_${SERVER}__${tool}`, { to: 'edit' }, child);
      expect(moved.verdict).toBe('blocked');
      expect(moved.reason).toContain('report to the agent that started you');
    }
  });

  it('loses a permission when its parent loses it', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    await world.sendEvent('SubagentStart', child);
    const write = { file_path: world.path('src/b.js'), content: 'b' };
    expect((await world.call('Write', write, child)).verdict).toBe('allowed');
    await world.session((session) => session.hop({ to: 'test', exit: 'hop-test', reason: 'done' }));
    const late = await world.call('Write', { ...write, file_path: world.path('src/c.js') }, child);
    expect(late.verdict).toBe('blocked');
    expect(late.reason).toContain('tool-not-allowed');
    expect(late.reason).toContain('sub-agent');
    // The denial is recorded in the session of the agent that tried, not in its parent's.
    expect((await world.evidence('a1')).at(-1)).toBe('denial tool-not-allowed');
    expect(await world.evidence()).not.toContain('denial tool-not-allowed');
  });

  it('does not disturb a running call of its parent when its own call is refused', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    await world.sendEvent('SubagentStart', child);
    await world.session(async (session) => {
      const approver = { via: 'approver' as const, approve: async () => ({ by: 'operator' }) };
      await session.hop({ to: 'edit', exit: 'hop-edit', reason: 'found it' });
      await session.setMode({ to: 'execute', reason: 'it is known', exitCriteria: 'it works' }, { approver });
    });
    await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    const glob = await world.call('Glob', { pattern: '*' }, child);
    expect(glob.verdict).toBe('blocked');
    expect(glob.reason).toContain('edit has no tool glob');
    expect((await world.evidence()).at(-1)).toBe('intent write');
    expect((await world.evidence('a1')).at(-1)).toBe('denial tool-not-allowed');
  });

  it('cannot use hopgate’s own tools outside its envelope', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    await world.sendEvent('SubagentStart', child);
    const own = (tool: string) => `mcp__plugin_hopgate_${SERVER}__${tool}`;
    expect((await world.call(own('glob'), { pattern: '*' }, child)).verdict).toBe('allowed');
    expect((await world.call(own('write'), { path: 'src/x.js', content: '' }, child)).verdict).toBe('blocked');
  });

  it('gets its own status, and answers to “why” that its parent’s envelope limits', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    await world.sendEvent('SubagentStart', child);
    const { sessionId: session } = await world.record();
    const ask = async (name: string, input: { readonly [key: string]: Json }) => {
      expect((await world.call(`mcp__plugin_hopgate_${SERVER}__${name}`, input, child)).verdict).toBe('allowed');
      const op = { op: 'call', root: world.root, session, call: { name, input } } as const;
      const caller = { env: world.env, pid: null };
      const answer = await carryOutSessionRequest(world.host, caller, op, new AbortController().signal);
      return (answer as { readonly value: AgentAnswer }).value;
    };
    const read = { tool: 'read', args: { path: 'src/a.js' } };
    expect(await ask('status', {})).toMatchObject({ status: 'ok', data: { backpack: { author: 'claude-code/a1' } } });
    expect(await ask('why', read)).toMatchObject({ status: 'ok', data: { allowed: true } });
    await world.session((at) => at.setMode({ to: 'discuss', reset: true, by: 'operator', reason: 'stop' }));
    expect(await ask('why', read)).toMatchObject({ status: 'ok', denial: { code: 'mode-forbids' } });
    expect((await world.evidence('a1')).join()).not.toContain('denial');
  });

  it('has its session closed when it stops', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.sendEvent('SubagentStart', child);
    await world.sendEvent('SubagentStop', child);
    await world.host.close(); // the next read opens it again
    expect((await world.evidence('a1')).slice(-2)).toEqual(['stop', 'session-closed']);
    expect((await world.call('Read', { file_path: world.path('src/a.js') }, child)).verdict).toBe('blocked');
  });

  it('is refused if it would work outside this repository', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    for (const isolation of ['worktree', 'remote'])
      expect((await world.call('Agent', { prompt: 'x', isolation })).verdict).toBe('blocked');
    await world.lead('explore', 'diagnose');
    world.write('.claude/worktrees/a1/.git', 'gitdir: x');
    world.write('.claude/worktrees/a1/a.js', 'one\n');
    const read = (cwd: string, fields: object) =>
      world.call('Read', { file_path: world.path('.claude/worktrees/a1/a.js') }, { ...fields, cwd: world.path(cwd) });
    expect((await read('.claude/worktrees/a1', child)).reason).toContain('another working tree');
    expect((await read('src', child)).verdict).toBe('allowed');
  });
});

describe('missing hooks', () => {
  it('are noticed if a conversation never sent SessionStart', async () => {
    const late = await world.call('TodoWrite', {});
    expect(late.verdict).toBe('allowed');
    expect((await world.record()).notes['silent']).toHaveLength(1);
    expect((await world.call('TodoWrite', {})).notice).toBeNull();
  });

  it('are noticed if the end of an acting call was never reported, and the person at the client sees it', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    const first = await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    const next = await world.call('Write', { file_path: world.path('src/c.js'), content: 'c' });
    expect(next.verdict).toBe('allowed');
    expect(next.notice).toContain(first.id);
    const { notes, events } = await world.record();
    expect(notes['silent']).toHaveLength(1);
    expect(events.some(({ name, toolUseId }) => name === 'PostToolUse (missing)' && toolUseId === first.id)).toBe(true);
    expect((await world.evidence()).includes('interrupted write')).toBe(true);
  });

  it('are not suspected while read-only calls run in parallel', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    const [a, b] = [
      await world.call('Read', { file_path: world.path('src/a.js') }),
      await world.call('Read', { file_path: world.path('README.md') }),
    ];
    expect(b.notice).toBeNull();
    await world.done(b.id, 'Read', {});
    await world.done(a.id, 'Read', {});
    expect((await world.sendEvent('UserPromptSubmit', { prompt: 'x' })).notice).toBeNull();
  });

  describe('the client’s own transcript', () => {
    const results = (...all: readonly (readonly [string, boolean])[]) => {
      const file = join(world.root, '..', 'own.jsonl');
      const blocks = all.map(([id, failed]) => ({
        type: 'tool_result',
        tool_use_id: id,
        is_error: failed,
        content: failed ? 'The user rejected it' : 'written',
      }));
      writeFileSync(file, `${JSON.stringify({ type: 'user', message: { role: 'user', content: blocks } })}\n`);
      return { transcript_path: file };
    };
    const writing = async () => {
      await world.sendEvent('SessionStart', { source: 'startup' });
      await world.lead('edit', 'execute');
      return world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    };

    it('shows that no hook is missing if the user typed a prompt during a call', async () => {
      const { id } = await writing();
      expect((await world.sendEvent('UserPromptSubmit', { prompt: 'x', ...results() })).notice).toBeNull();
      await world.done(id, 'Write', {});
      expect((await world.sendEvent('Stop', results([id, false]))).notice).toBeNull();
      expect((await world.record()).notes['silent']).toBeUndefined();
      expect((await world.evidence()).at(-1)).toBe('outcome write ok');
    });

    const NOT_RUN: readonly (readonly [end: string, reported: (id: string) => object, event: string])[] = [
      ['the person’s No, or Esc', (id: string) => results([id, true]), 'UserPromptSubmit'],
      ['the end of the client in the middle of a turn', () => results(), 'SessionEnd'],
      ['a turn that was interrupted', () => results(), 'Stop'],
    ];
    it.each(sample(NOT_RUN, 3))(
      'shows that a call did not run after %s, so no hook is missing',
      async (_, reported, event) => {
        const { id } = await writing();
        expect((await world.sendEvent(event, { prompt: 'x', ...reported(id) })).notice).toBeNull();
        expect((await world.record()).notes['silent']).toBeUndefined();
        expect((await world.evidence()).at(-1)).toBe('outcome write failed');
      },
    );

    it('shows that a call ran without its hook', async () => {
      const { id } = await writing();
      await world.sendEvent('Stop', results([id, false]));
      expect((await world.record()).notes['silent']).toHaveLength(1);
    });

    it('shows that the person refused a command, so the command cannot run later', async () => {
      await world.sendEvent('SessionStart', { source: 'startup' });
      await world.lead('edit', 'execute');
      const { id, input } = await world.call('Bash', { command: 'ls' });
      const ticket = /[0-9a-f]{32}/.exec(String((input as { command: string }).command))?.[0] ?? '';
      await world.sendEvent('UserPromptSubmit', { prompt: 'x', ...results([id, true]) });
      expect(world.host.runTickets.take(ticket)).toBeNull();
      expect((await world.record()).notes['silent']).toBeUndefined();
    });
  });

  it('are reported with a later reply if the first reply cannot carry a message', async () => {
    await world.call('Monitor', {});
    const { notice } = await world.sendEvent('UserPromptSubmit', { prompt: 'x' });
    expect(notice).toContain('no SessionStart hook was answered');
  });
});

describe('a call that another hook changed after hopgate had allowed it', () => {
  it('is noticed, and its outcome is not recorded as that of the allowed call', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    const input = { file_path: world.path('src/b.js'), content: 'b' };
    const write = await world.call('Write', input);
    const tool_input = { ...input, file_path: world.path('package.json') };
    const after = await world.done(write.id, 'Write', { type: 'create' }, { tool_input });
    expect(after.notice).toContain('another hook changed the Write call');
    expect((await world.evidence()).at(-1)).toBe('outcome write failed');
    const bash = await world.call('Bash', { command: 'ls' });
    const same = await world.done(bash.id, 'Bash', {}, { tool_input: { ...bash.input } });
    expect(same.notice).toBeNull();
    const other = await world.call('Bash', { command: 'ls' });
    const ran = await world.done(other.id, 'Bash', {}, { tool_input: { command: 'ls' } });
    expect(ran.notice).toContain('neither checked nor sandboxed');
    expect((await world.record()).notes['silent']).toHaveLength(2);
  });
});

describe('a settings change that could disable the hooks', () => {
  it('does not take effect during a conversation', async () => {
    await world.sendEvent('SessionStart', { source: 'startup' });
    const change = await world.sendEvent('ConfigChange', {
      source: 'local_settings',
      file_path: world.path('.claude/settings.local.json'),
    });
    expect(change.verdict).toBe('blocked');
    expect(change.reason).toContain('settings.local.json');
  });
});

describe('the answer to a hook event', () => {
  it.each([
    null,
    'text',
    [],
    {},
    { hook_event_name: 'PreToolUse' },
    { session_id: 'x' },
    { hook_event_name: 'PreToolUse', session_id: 'x', agent_id: 7 },
  ])('is a refusal if the event cannot be read: %j', async (raw) => {
    const answer = await handleClaudeEvent(raw, world.host.hookContext({ env: world.env, pid: null }), world.env);
    expect(answer.exit).toBe(2);
    expect(answer.stderr).not.toBe('');
  });

  it('is a refusal of a call without an id or a tool', async () => {
    expect((await world.sendEvent('PreToolUse', { tool_name: 'Read' })).verdict).toBe('blocked');
    expect((await world.sendEvent('PreToolUse', { tool_use_id: 'x' })).verdict).toBe('blocked');
  });

  it('is about the configured repository, whichever of its folders the client was started in', async () => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    const env = { ...world.env, CLAUDE_PROJECT_DIR: world.path('src') };
    const host = world.host.hookContext({ env, pid: null });
    const event = { session_id: 'below', cwd: world.path('src'), hook_event_name: 'SessionStart', source: 'startup' };
    const { exit, stdout } = await handleClaudeEvent(event, host, env);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining('explore') });
    const records = ['src', '.'].map((folder) =>
      world.host.conversations.stored({
        client: 'claude-code',
        id: 'below',
        agentId: null,
        root: join(world.root, folder),
      }),
    );
    expect(records).toEqual([null, expect.objectContaining({ parent: null })]);
  });

  it('is not about another root, unless the environment also names a session of that root', async () => {
    const elsewhere = { ...world.env, HOPGATE_ROOT: world.path('src') };
    const begin = (id: string, env: typeof elsewhere) =>
      handleClaudeEvent(
        { session_id: id, cwd: world.root, hook_event_name: 'SessionStart', source: 'startup' },
        world.host.hookContext({ env, pid: null }),
        env,
      );
    expect((await begin('one', elsewhere)).exit).toBe(0);
    const seatAt = (root: string) =>
      world.host.conversations.stored({ client: 'claude-code', id: 'one', agentId: null, root });
    expect([seatAt(world.path('src')), seatAt(world.root)]).toEqual([null, expect.objectContaining({ parent: null })]);
    const made = { ...elsewhere, HOPGATE_SESSION: 's-made-up' };
    expect(await begin('two', made)).toMatchObject({ exit: 2, stderr: expect.stringContaining('s-made-up') });
  });

  it('is a refusal of a call if the session cannot be opened, but lets an agent stop that was asked to continue', async () => {
    const broken = { ...world.env, HOPGATE_ROOT: '/nowhere', HOPGATE_SESSION: 's-1' };
    const event = { session_id: 'c', cwd: world.root, tool_name: 'Read', tool_use_id: 'x' };
    const host = world.host.hookContext({ env: broken, pid: null });
    const call = await handleClaudeEvent({ ...event, hook_event_name: 'PreToolUse' }, host, broken);
    expect(call).toMatchObject({ exit: 2, stdout: '' });
    expect(call.stderr).toContain('What to do');
    const stopping = await handleClaudeEvent(
      { ...event, hook_event_name: 'Stop', stop_hook_active: true },
      host,
      broken,
    );
    expect(stopping.exit).toBe(0);
  });
});
