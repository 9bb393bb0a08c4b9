import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handleClaudeEvent } from '../../../src/adapters/claude-code/hooks.ts';
import { acceptConfig } from '../../../src/project/trust.ts';
import { SERVER } from '../../server-name.ts';
import { World } from './world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const hop = `mcp__plugin_hopgate_${SERVER}__hop`;

describe('what the model is told', () => {
  it.each(['startup', 'resume', 'clear', 'compact', 'fork'])(
    'at SessionStart (%s): where it is and how it can leave',
    async (source) => {
      const { context, answer } = await world.hear('SessionStart', { source });
      expect(answer.exit).toBe(0);
      expect(context).toContain('explore');
      expect(context).toContain(hop);
    },
  );

  it('once, until something changes that it has not been shown', async () => {
    const told = async () => (await world.hear('UserPromptSubmit', { prompt: 'go on' })).context;
    await world.hear('SessionStart', { source: 'startup' });
    expect(await told()).toBe('');
    await world.lead('explore', 'diagnose');
    expect(await told()).toContain('in mode diagnose');
    expect(await told()).toBe('');
    const { id } = await world.call(hop, { to: 'edit', exit: 'hop-edit', reason: 'x' });
    await world.session((session) => session.hop({ to: 'edit', exit: 'hop-edit', reason: 'x' }));
    await world.done(id, hop, {}); // its answer has shown the new place
    expect(await told()).toBe('');
    expect((await world.hear('SessionStart', { source: 'compact' })).context).toContain('"edit"');
    expect(await told()).toBe('');
  });

  it('with each prompt, as things are by then', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    const { context } = await world.hear('UserPromptSubmit', { prompt: 'go on' });
    expect(context).toContain('edit');
    expect(context).toContain('execute');
  });

  it('nothing before a compaction', async () => {
    const { answer } = await world.hear('PreCompact', { trigger: 'auto' });
    expect(answer).toEqual({ exit: 0, stdout: '', stderr: '' });
  });
});

describe('what the person is told', () => {
  const begin = async () => (await world.hear('SessionStart', { source: 'startup' })).notice;

  it('that nobody has trusted hopgate.yaml, once', async () => {
    world.write('hopgate.yaml', 'specs: specs\n');
    expect(await begin()).toMatch(/hopgate.yaml is not trusted, .* run "hopgate trust"/);
    expect((await world.hear('UserPromptSubmit', { prompt: 'x' })).notice).toBeNull();
  });

  it('that it is another than the one that was trusted', async () => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    await acceptConfig(world.root, world.env);
    world.write('hopgate.yaml', 'scopes: { edit: [docs/, src/] }\n');
    expect(await begin()).toContain('is not what you have trusted');
  });

  it('nothing where it is trusted as it stands, or is not there', async () => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    await acceptConfig(world.root, world.env);
    expect(await begin()).toBeNull();
  });

  it('nothing where there is none', async () => {
    expect(await begin()).toBeNull();
  });
});

describe('instructions that import what is masked', () => {
  it('take no prompt, and no file of their folder, to the model', async () => {
    await world.lead('explore', 'diagnose');
    world.write('.env', 'A=1');
    world.write('src/CLAUDE.md', '@../.env');
    const read = await world.call('Read', { file_path: world.path('src/a.js') });
    expect(read).toMatchObject({ verdict: 'blocked', reason: expect.stringContaining('src/CLAUDE.md imports') });
    expect((await world.call('Read', { file_path: world.path('README.md') })).verdict).toBe('allowed');
    const { answer } = await world.hear('UserPromptSubmit', { prompt: 'begin' });
    expect(answer).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('add ".env" to "imports" in hopgate.yaml'),
    });
  });
});

describe('Stop', () => {
  const work = async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    await world.session((session) => session.step({ tool: 'write', args: { path: 'src/a.js', content: 'two' } }));
  };

  it('asks for the review, once, with the call that leads to it', async () => {
    await work();
    const first = await world.hear('Stop', { stop_hook_active: false });
    expect(first.goOn).toContain('which is in edit');
    const call = /hop\((.*?)\)\)/.exec(first.goOn ?? '')?.[1] ?? '{}';
    expect(await world.session((session) => session.hop(JSON.parse(call)))).toMatchObject({ ok: true, to: 'reflect' });
    expect((await world.hear('Stop', { stop_hook_active: false })).answer.stdout).toBe('');
  });

  it('does not ask while a hook keeps the agent going already', async () => {
    await work();
    expect((await world.hear('Stop', { stop_hook_active: true })).goOn).toBeNull();
  });

  it('does not ask where nothing was done, or only looked at', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    expect((await world.hear('Stop', { stop_hook_active: false })).goOn).toBeNull();
    await world.lead('explore', 'diagnose');
    await world.session((session) => session.step({ tool: 'read', args: { path: 'src/a.js' } }));
    expect((await world.hear('Stop', { stop_hook_active: false })).goOn).toBeNull();
  });

  it('does not ask once the work is reviewed', async () => {
    await work();
    await world.session((session) => session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'done' }));
    expect((await world.hear('Stop', { stop_hook_active: false })).goOn).toBeNull();
    await world.session((session) => session.stop('reviewed'));
    expect((await world.hear('Stop', { stop_hook_active: false })).goOn).toBeNull();
  });
});

describe('a sub-agent', () => {
  const child = { agent_id: 'a1', agent_type: 'general-purpose' };

  it('has a session of its own, in its parent’s peripheral and mode, and cannot leave it', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    const { context } = await world.hear('SubagentStart', child);
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

  it('cannot do what its parent cannot do any more', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    await world.hear('SubagentStart', child);
    const write = { file_path: world.path('src/b.js'), content: 'b' };
    expect((await world.call('Write', write, child)).verdict).toBe('allowed');
    await world.session((session) => session.hop({ to: 'test', exit: 'hop-test', reason: 'done' }));
    const late = await world.call('Write', { ...write, file_path: world.path('src/c.js') }, child);
    expect(late.verdict).toBe('blocked');
    expect(late.reason).toContain('tool-not-allowed');
    expect(late.reason).toContain('sub-agent');
    // It stands where it was tried: what another agent tries is none of the parent's doing.
    expect((await world.evidence('a1')).at(-1)).toBe('denial tool-not-allowed');
    expect(await world.evidence()).not.toContain('denial tool-not-allowed');
  });

  it('leaves a call that its parent is making alone when the parent’s envelope refuses its own', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    await world.hear('SubagentStart', child);
    await world.session(async (session) => {
      const approver = { via: 'approver' as const, approve: async () => ({ by: 'operator' }) };
      await session.hop({ to: 'edit', exit: 'hop-edit', reason: 'found it' });
      await session.setMode({ to: 'execute', reason: 'it is known', exitCriteria: 'it works' }, { approver });
    });
    await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    const glob = await world.call('Glob', { pattern: '*' }, child);
    expect(glob.verdict).toBe('blocked');
    expect(glob.reason).toContain('edit has no glob');
    expect((await world.evidence()).at(-1)).toBe('intent write');
    expect((await world.evidence('a1')).at(-1)).toBe('denial tool-not-allowed');
  });

  it('cannot use hopgate’s own tools beyond its envelope', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    await world.hear('SubagentStart', child);
    const own = (tool: string) => `mcp__plugin_hopgate_${SERVER}__${tool}`;
    expect((await world.call(own('glob'), { pattern: '*' }, child)).verdict).toBe('allowed');
    expect((await world.call(own('status'), {}, child)).verdict).toBe('allowed');
    expect((await world.call(own('write'), { path: 'src/x.js', content: '' }, child)).verdict).toBe('blocked');
  });

  it('has its session closed when it stops', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.hear('SubagentStart', child);
    await world.hear('SubagentStop', child);
    await world.host.close(); // whoever looks next opens it again
    expect((await world.evidence('a1')).slice(-2)).toEqual(['stop', 'session-closed']);
    expect((await world.call('Read', { file_path: world.path('src/a.js') }, child)).verdict).toBe('blocked');
  });

  it('that is to work outside of this repository is refused', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    for (const isolation of ['worktree', 'remote'])
      expect((await world.call('Agent', { prompt: 'x', isolation })).verdict).toBe('blocked');
  });
});

describe('hooks that fell silent', () => {
  it('are noticed where a conversation never announced itself', async () => {
    const late = await world.call('TodoWrite', {});
    expect(late.verdict).toBe('allowed');
    expect((await world.seat()).notes['silent']).toHaveLength(1);
    expect((await world.call('TodoWrite', {})).notice).toBeNull();
  });

  it('are noticed where an acting call never ended, and the person at the client is told', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('edit', 'execute');
    const first = await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    const next = await world.call('Write', { file_path: world.path('src/c.js'), content: 'c' });
    expect(next.verdict).toBe('allowed');
    expect(next.notice).toContain(first.id);
    const { notes, events } = await world.seat();
    expect(notes['silent']).toHaveLength(1);
    expect(events.some(({ name, toolUseId }) => name === 'PostToolUse (missing)' && toolUseId === first.id)).toBe(true);
    expect((await world.evidence()).includes('interrupted write')).toBe(true);
  });

  it('are not suspected where calls that only look run side by side', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    await world.lead('explore', 'diagnose');
    const [a, b] = [
      await world.call('Read', { file_path: world.path('src/a.js') }),
      await world.call('Read', { file_path: world.path('README.md') }),
    ];
    expect(b.notice).toBeNull();
    await world.done(b.id, 'Read', {});
    await world.done(a.id, 'Read', {});
    expect((await world.hear('UserPromptSubmit', { prompt: 'x' })).notice).toBeNull();
  });

  describe('are told apart from what the person did, by the client’s own transcript:', () => {
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
      await world.hear('SessionStart', { source: 'startup' });
      await world.lead('edit', 'execute');
      return world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    };

    it('a prompt that is typed while a call runs', async () => {
      const { id } = await writing();
      expect((await world.hear('UserPromptSubmit', { prompt: 'x', ...results() })).notice).toBeNull();
      await world.done(id, 'Write', {});
      expect((await world.hear('Stop', results([id, false]))).notice).toBeNull();
      expect((await world.seat()).notes['silent']).toBeUndefined();
      expect((await world.evidence()).at(-1)).toBe('outcome write ok');
    });

    it.each([
      ['a No, or Esc', (id: string) => results([id, true]), 'UserPromptSubmit'],
      ['an end of the program in the middle', () => results(), 'SessionEnd'],
      ['a turn that was interrupted', () => results(), 'Stop'],
    ])('%s', async (_, said, event) => {
      const { id } = await writing();
      expect((await world.hear(event, { prompt: 'x', ...said(id) })).notice).toBeNull();
      expect((await world.seat()).notes['silent']).toBeUndefined();
      expect((await world.evidence()).at(-1)).toBe('outcome write failed');
    });

    it('but a call that ran, and whose hook is missing, is noticed', async () => {
      const { id } = await writing();
      await world.hear('Stop', results([id, false]));
      expect((await world.seat()).notes['silent']).toHaveLength(1);
    });

    it('a command that was refused before it began cannot run later', async () => {
      await world.hear('SessionStart', { source: 'startup' });
      await world.lead('edit', 'execute');
      const { id, input } = await world.call('Bash', { command: 'ls' });
      const ticket = /[0-9a-f]{32}/.exec(String((input as { command: string }).command))?.[0] ?? '';
      await world.hear('UserPromptSubmit', { prompt: 'x', ...results([id, true]) });
      expect(world.host.takeRun(ticket)).toBeNull();
      expect((await world.seat()).notes['silent']).toBeUndefined();
    });
  });

  it('are told of later where the first answer has no room for it', async () => {
    await world.call('Monitor', {});
    const { notice } = await world.hear('UserPromptSubmit', { prompt: 'x' });
    expect(notice).toContain('sent no SessionStart');
  });
});

describe('a call that another hook changed after it had been let through', () => {
  it('is noticed, and its outcome is not taken for one of the call', async () => {
    await world.hear('SessionStart', { source: 'startup' });
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
    expect(ran.notice).toContain('neither checked nor contained');
    expect((await world.seat()).notes['silent']).toHaveLength(2);
  });
});

describe('what could switch the hooks off', () => {
  it('is kept from taking effect in the middle of a conversation', async () => {
    await world.hear('SessionStart', { source: 'startup' });
    const change = await world.hear('ConfigChange', {
      source: 'local_settings',
      file_path: world.path('.claude/settings.local.json'),
    });
    expect(change.verdict).toBe('blocked');
    expect(change.reason).toContain('settings.local.json');
  });
});

describe('a hook that cannot answer', () => {
  it.each([
    null,
    'text',
    [],
    {},
    { hook_event_name: 'PreToolUse' },
    { session_id: 'x' },
    { hook_event_name: 'PreToolUse', session_id: 'x', agent_id: 7 },
  ])('refuses what is no event: %j', async (raw) => {
    const answer = await handleClaudeEvent(raw, world.host.hookContext({ env: world.env, pid: null }), world.env);
    expect(answer.exit).toBe(2);
    expect(answer.stderr).not.toBe('');
  });

  it('refuses a call that has no id or no tool', async () => {
    expect((await world.hear('PreToolUse', { tool_name: 'Read' })).verdict).toBe('blocked');
    expect((await world.hear('PreToolUse', { tool_use_id: 'x' })).verdict).toBe('blocked');
  });

  it('is about the repository that is set up, in whichever folder of it the client was started', async () => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    const env = { ...world.env, CLAUDE_PROJECT_DIR: world.path('src') };
    const desk = world.host.hookContext({ env, pid: null });
    const event = { session_id: 'below', cwd: world.path('src'), hook_event_name: 'SessionStart', source: 'startup' };
    const { exit, stdout } = await handleClaudeEvent(event, desk, env);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining('explore') });
    const seats = ['src', '.'].map((folder) =>
      world.host.recordOf({ client: 'claude-code', id: 'below', agentId: null, root: join(world.root, folder) }),
    );
    expect(seats).toEqual([null, expect.objectContaining({ parent: null })]);
  });

  it('takes another root from nobody who names no session of it', async () => {
    const elsewhere = { ...world.env, HOPGATE_ROOT: world.path('src') };
    const begin = (id: string, env: typeof elsewhere) =>
      handleClaudeEvent(
        { session_id: id, cwd: world.root, hook_event_name: 'SessionStart', source: 'startup' },
        world.host.hookContext({ env, pid: null }),
        env,
      );
    expect((await begin('one', elsewhere)).exit).toBe(0);
    const seatAt = (root: string) => world.host.recordOf({ client: 'claude-code', id: 'one', agentId: null, root });
    expect([seatAt(world.path('src')), seatAt(world.root)]).toEqual([null, expect.objectContaining({ parent: null })]);
    const made = { ...elsewhere, HOPGATE_SESSION: 's-made-up' };
    expect(await begin('two', made)).toMatchObject({ exit: 2, stderr: expect.stringContaining('s-made-up') });
  });

  it('refuses when the session cannot be had, and lets an agent stop that was asked to go on', async () => {
    const broken = { ...world.env, HOPGATE_ROOT: '/nowhere', HOPGATE_SESSION: 's-1' };
    const event = { session_id: 'c', cwd: world.root, tool_name: 'Read', tool_use_id: 'x' };
    const desk = world.host.hookContext({ env: broken, pid: null });
    const call = await handleClaudeEvent({ ...event, hook_event_name: 'PreToolUse' }, desk, broken);
    expect(call).toMatchObject({ exit: 2, stdout: '' });
    expect(call.stderr).toContain('What to do');
    const stopping = await handleClaudeEvent(
      { ...event, hook_event_name: 'Stop', stop_hook_active: true },
      desk,
      broken,
    );
    expect(stopping.exit).toBe(0);
  });
});
