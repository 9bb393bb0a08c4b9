import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { conversationOfCodexEvent, readCodexEvent } from '../../../src/adapters/codex/codex-event.ts';
import { handleCodexEvent } from '../../../src/adapters/codex/handle-codex-event.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import type { Session } from '../../../src/session/session.ts';
import { fixtureSpecs } from '../../fixture-specs.ts';
import { SERVER } from '../../server-name.ts';
import { bodies, must } from '../../session/sessions.ts';
import { patchOf, toEdit, world } from './codex-session.ts';

const contextOf = (stdout: string): string =>
  (JSON.parse(stdout) as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput.additionalContext;

describe('a shell command', () => {
  test('is refused with the name of hopgate’s tool that runs commands here', async () => {
    const { session, call } = await world();
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.start('explore'));
    const { exit, stderr } = await call('Bash', { command: 'ls' });
    expect(exit).toBe(2);
    expect(stderr).toContain(`mcp__${SERVER}__bash_readonly`);
  });

  test('is refused and recorded with the gate’s remedy if no command may run', async () => {
    const { session, call } = await world();
    await must(session.start('explore'));
    const { exit, stderr } = await call('Bash', { command: 'rm -rf .' });
    expect(exit).toBe(2);
    expect(stderr).toContain('What to do:');
    expect((await bodies(session)).at(-1)).toMatchObject({ event: 'denial' });
  });
});

describe('a patch', () => {
  const update = patchOf('*** Update File: src/a.ts', '@@', '-a', '+b');

  test('with one change to one file runs, and its result is recorded', async () => {
    const { session, root, call, send } = await world();
    await toEdit(session);
    const before = await call('apply_patch', update, { tool_use_id: 'p' });
    expect(before).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect((await bodies(session)).at(-1)).toMatchObject({
      event: 'intent',
      tool: 'edit',
      args: { path: 'src/a.ts', old: 'a\n', new: 'b\n' },
    });
    writeFileSync(join(root, 'src/a.ts'), 'b\n');
    await send({
      hook_event_name: 'PostToolUse',
      tool_name: 'apply_patch',
      tool_input: update,
      tool_use_id: 'p',
      tool_response: 'Exit code: 0\nSuccess.',
    });
    expect((await bodies(session)).at(-1)).toMatchObject({
      event: 'outcome',
      outcome: { status: 'ok' },
      effects: [{ path: 'src/a.ts', op: 'modify' }],
    });
  });

  test('shows the model a finding about its change', async () => {
    const { session, root, call, send } = await world();
    await toEdit(session);
    const add = patchOf('*** Add File: src/a.test.ts', "+test.skip('a', () => {});");
    await call('apply_patch', add, { tool_use_id: 'p' });
    writeFileSync(join(root, 'src/a.test.ts'), "test.skip('a', () => {});\n");
    const answer = await send({
      hook_event_name: 'PostToolUse',
      tool_name: 'apply_patch',
      tool_input: add,
      tool_use_id: 'p',
      tool_response: 'Exit code: 0\nSuccess.',
    });
    expect(JSON.parse(answer.stdout).hookSpecificOutput).toEqual({
      hookEventName: 'PostToolUse',
      additionalContext: expect.stringContaining('src/a.test.ts: it is a test'),
    });
  });

  test.each([
    ['that did not fit', 'call', 'verification failed: no such lines', { status: 'failed', code: 'client-refused' }],
    ['whose hook was lost', 'call', 'Exit code: 0\nSuccess.', { status: 'ok' }],
    ['that was interrupted', 'Stop', null, { status: 'failed', message: expect.stringContaining('interrupted') }],
  ])('%s has the result of Codex’s log, if no event reports its end', async (_, next, output, outcome) => {
    const { session, root, call, send } = await world();
    await toEdit(session);
    await call('apply_patch', update, { tool_use_id: 'p' });
    const log = { transcript_path: join(root, 'log.jsonl') };
    await call('update_plan', {}, log);
    expect((await bodies(session)).at(-1)).toMatchObject({ event: 'intent' }); // It may still run.
    const payload = { type: 'custom_tool_call_output', call_id: 'p', output };
    if (output !== null) writeFileSync(log.transcript_path, `${JSON.stringify({ type: 'response_item', payload })}\n`);
    await (next === 'Stop' ? send({ hook_event_name: 'Stop', ...log }) : call('update_plan', {}, log));
    await send({ hook_event_name: 'Stop', ...log });
    expect((await bodies(session)).filter(({ event }) => event === 'outcome')).toMatchObject([{ outcome }]);
  });

  test('is recorded as failed if it fails', async () => {
    const { session, call, send } = await world();
    await toEdit(session);
    await call('apply_patch', update, { tool_use_id: 'p' });
    await send({
      hook_event_name: 'PostToolUse',
      tool_name: 'apply_patch',
      tool_input: update,
      tool_use_id: 'p',
      tool_response: 'Exit code: 1\nno such text',
    });
    expect((await bodies(session)).at(-1)).toMatchObject({
      event: 'outcome',
      outcome: { status: 'failed', code: 'client-failed' },
    });
  });

  test('of a new file counts as a write', async () => {
    const { session, call } = await world();
    await toEdit(session);
    expect((await call('apply_patch', patchOf('*** Add File: src/b.ts', '+one', '+two'))).exit).toBe(0);
    expect((await bodies(session)).at(-1)).toMatchObject({
      event: 'intent',
      tool: 'write',
      args: { path: 'src/b.ts', content: 'one\ntwo\n' },
    });
  });

  test.each([
    ['outside of edit', async (_: unknown) => {}, update, 'no-peripheral'],
    ['outside of the scope', toEdit, patchOf('*** Add File: package.json', '+{}'), 'out-of-scope'],
    ['to what steers an agent', toEdit, patchOf('*** Add File: src/.codex/hooks.json', '+{}'), 'out-of-scope'],
    ['out of the repository', toEdit, patchOf('*** Add File: ../x', '+x'), 'out-of-scope'],
    [
      'with one bad file among good ones',
      toEdit,
      patchOf('*** Add File: src/b.ts', '+x', '*** Add File: .env', '+x'),
      'out-of-scope',
    ],
    [
      'of two files',
      toEdit,
      patchOf('*** Add File: src/b.ts', '+x', '*** Add File: src/c.ts', '+x'),
      `mcp__${SERVER}__write`,
    ],
    ['that deletes', toEdit, patchOf('*** Delete File: src/a.ts'), `mcp__${SERVER}__bash`],
    ['that deletes out of scope', toEdit, patchOf('*** Delete File: README.md'), 'out-of-scope'],
    [
      'that deletes in a peripheral without writing',
      async (session: Session) => {
        await must(session.setMode({ to: 'diagnose' }));
        await must(session.start('explore'));
      },
      patchOf('*** Delete File: src/a.ts'),
      'tool-not-allowed: explore has no tool write',
    ],
    [
      'that moves',
      toEdit,
      patchOf('*** Update File: src/a.ts', '*** Move to: src/z.ts', '@@', '-a', '+b'),
      `mcp__${SERVER}__bash`,
    ],
    [
      'that cannot be read',
      toEdit,
      { command: '*** Begin Patch\n *** Delete File: x\n*** End Patch' },
      'cannot be read',
    ],
  ])('does not run: %s', async (_, prepare, input, reason) => {
    const { session, call } = await world();
    await prepare(session);
    const { exit, stderr } = await call('apply_patch', input);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(reason) });
    expect((await bodies(session)).some(({ event }) => event === 'intent')).toBe(false);
  });

  test('in a read-only run is refused with the name of the tool that works', async () => {
    const { session, call } = await world();
    await toEdit(session);
    const { exit, stderr } = await call('apply_patch', update, {}, { HOPGATE_CODEX_SANDBOX: 'read-only' });
    const instead = `call mcp__${SERVER}__edit with {"path":"src/a.ts","old":"a\\n","new":"b\\n"} instead`;
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(instead) });
  });

  test('has paths relative to Codex’s working folder', async () => {
    const { session, root, call } = await world();
    await toEdit(session);
    const answer = await call(
      'apply_patch',
      patchOf('*** Update File: a.ts', '@@', '-a', '+b'),
      { cwd: join(root, 'src') },
      { HOPGATE_ROOT: root },
    );
    expect(answer.exit).toBe(0);
    expect((await bodies(session)).at(-1)).toMatchObject({ args: { path: 'src/a.ts' } });
  });
});

test('the hooks use the configured repository, whichever of its folders Codex works in', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-codex-root-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['.git', 'src', 'other/.git']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'hopgate.yaml'), '');
  const rootOf = (folder: string, env = {}) => {
    const event = { hook_event_name: 'SessionStart', session_id: 's', cwd: join(root, folder) };
    return conversationOfCodexEvent(readCodexEvent(event), env).root;
  };
  expect(['.', 'src', 'other'].map((folder) => rootOf(folder))).toEqual([root, root, join(root, 'other')]);
  expect(rootOf('src', { HOPGATE_ROOT: join(root, 'src') })).toBe(join(root, 'src'));
});

describe('a tool of Codex other than the shell and apply_patch', () => {
  test.each([
    `mcp__${SERVER}__read`,
    `mcp__${SERVER}__hop`,
    'spawn_agent',
    'update_plan',
    ...[
      'collaborationspawn_agent',
      'collaborationwait_agent',
      'clocksleep',
      'clockcurr_time',
      'functions.request_user_input_async',
    ],
  ])('is allowed: %s', async (tool) => {
    const { session, call } = await world();
    await must(session.start('explore'));
    expect(await call(tool, {})).toEqual({ exit: 0, stdout: '', stderr: '' });
  });

  test.each(['nobody_knows', 'collaborationnobody_knows', `clockmcp__${SERVER}__read`])(
    'is refused and recorded: %s',
    async (tool) => {
      const { session, call } = await world();
      await must(session.start('explore'));
      const { exit, stderr } = await call(tool, {});
      expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('unknown-tool') });
      expect((await bodies(session)).at(-1)).toMatchObject({ event: 'denial', code: 'unknown-tool' });
    },
  );

  test.each(['web_search', 'write_stdin', 'mcp__other__read', 'mcp__hopgate2__read'])(
    'is refused with the error in its input: %s',
    async (tool) => {
      const { session, call } = await world();
      await must(session.setMode({ to: 'diagnose' }));
      await must(session.start('explore'));
      expect(await call(tool, {})).toMatchObject({
        exit: 2,
        stderr: expect.stringMatching(/What to do: .*mcp__hopgate_testtesttest__read/),
      });
      expect((await bodies(session)).at(-1)).toMatchObject({ event: 'denial', code: 'unknown-tool' });
    },
  );

  const image = { items: [{ type: 'local_image', path: '/home/me/a.png' }] };
  test.each([
    ['view_image', { path: '~/a.png' }, 'home folder'],
    ['apply_patch', { command: '*** Begin Patch\n*** Add File: ~/a.js\n+a\n*** End Patch' }, 'home folder'],
    ['multi_agent_v1spawn_agent', image, 'without items'],
    ['multi_agent_v1send_input', image, 'without items'],
  ])('is refused if Codex reads a file that is not judged: %s', async (tool, input, why) => {
    const { session, call } = await world();
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.start('explore'));
    const { exit, stderr } = await call(tool, input);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(why) });
  });

  test('that reads an image is judged as a file read', async () => {
    const { session, call } = await world();
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.start('explore'));
    expect((await call('view_image', { path: 'src/a.png' })).exit).toBe(0);
    expect(await call('view_image', { path: '.env' })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('out-of-scope'),
    });
  });
});

describe('a sub-agent', () => {
  const sub = { agent_id: 'sub-1', agent_type: 'default' };

  test('can neither hop nor start a sub-agent', async () => {
    const { session, call } = await world();
    await must(session.start('explore'));
    const starts = ['spawn_agent', 'multi_agent_v1spawn_agent', 'collaborationspawn_agent'];
    for (const tool of [`mcp__${SERVER}__hop`, ...starts])
      expect(await call(tool, {}, sub)).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('agent that started you'),
      });
    for (const tool of starts) expect((await call(tool, {})).exit).toBe(0);
    expect((await call(`mcp__${SERVER}__status`, {}, sub)).exit).toBe(0);
  });

  test('is bound by its own envelope even if its parent’s would allow the call', async () => {
    const { session, call } = await world();
    await toEdit(session);
    expect((await call(`mcp__${SERVER}__edit`, { path: 'src/a.ts', old: 'a', new: 'b' })).exit).toBe(0);
    expect((await call(`mcp__${SERVER}__edit`, { path: 'src/a.ts', old: 'a', new: 'b' }, sub)).exit).toBe(2);
  });

  test('is also bound by its parent’s envelope', async () => {
    const { session, host, call, send } = await world();
    await must(session.start('explore'));
    await send({ hook_event_name: 'SubagentStart', ...sub });
    const record = await host.conversation({ client: 'codex', id: 'thread-1', agentId: 'sub-1', root: '/' });
    const cwd = await host.withSession(record, async (own) => {
      await must(own.setMode({ to: 'diagnose' }));
      return own.root;
    });
    const { exit, stderr } = await call('view_image', { path: 'src/a.png' }, { ...sub, cwd });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('mode-forbids') });
    expect(stderr).toContain('a sub-agent can neither hop nor change the mode');
    expect(stderr).not.toContain('to move:');
    await must(session.setMode({ to: 'diagnose' }));
    expect((await call('view_image', { path: 'src/a.png' }, { ...sub, cwd })).exit).toBe(0);
  });
});

describe('the message to a model in Codex', () => {
  test('contains the place and the tool names at the start and after a compaction; a prompt gets only what has changed', async () => {
    const { session, send } = await world();
    await must(session.start('explore'));
    const start = await send({ hook_event_name: 'SessionStart', source: 'startup' });
    expect(contextOf(start.stdout)).toMatch(/explore[\s\S]*mcp__hopgate_testtesttest__hop/);
    expect((await send({ hook_event_name: 'UserPromptSubmit', prompt: 'x' })).stdout).toBe('');
    expect((await send({ hook_event_name: 'SessionStart', source: 'compact' })).stdout).not.toBe('');
    await must(session.setMode({ to: 'diagnose' }));
    expect(contextOf((await send({ hook_event_name: 'UserPromptSubmit', prompt: 'x' })).stdout)).toContain('diagnose');
  });

  test('contains only fields that Codex knows', async () => {
    const { session, send } = await world();
    await must(session.start('explore'));
    const { stdout } = await send({ hook_event_name: 'SessionStart', source: 'startup' });
    expect(JSON.parse(stdout)).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: expect.any(String) },
    });
  });
});

describe('the hook at the end of a Codex turn', () => {
  test('asks once for the review if the agent changed something', async () => {
    const { session, send } = await world();
    await toEdit(session);
    expect((await send({ hook_event_name: 'Stop', stop_hook_active: false })).stdout).toBe(''); // nothing to review
    await session.step({ tool: 'write', args: { path: 'src/x.js', content: 'x' } });
    const { stdout } = await send({ hook_event_name: 'Stop', stop_hook_active: false });
    expect(JSON.parse(stdout)).toEqual({ decision: 'block', reason: expect.stringContaining('reflect') });
    expect((await send({ hook_event_name: 'Stop', stop_hook_active: true })).stdout).toBe('');
    expect((await send({ hook_event_name: 'Stop', stop_hook_active: false })).stdout).toBe('');
  });

  test('asks in the turn that changed something, not in a later one that only read', async () => {
    const { session, send } = await world();
    await toEdit(session);
    const turn = async (tool: string, args: { readonly [name: string]: string }) => {
      await send({ hook_event_name: 'UserPromptSubmit', prompt: 'go on' });
      await session.step({ tool, args });
      return (await send({ hook_event_name: 'Stop', stop_hook_active: false })).stdout;
    };
    await session.step({ tool: 'write', args: { path: 'src/x.js', content: 'x' } }); // an interrupted turn has no Stop
    expect(await turn('read', { path: 'src/a.ts' })).toBe('');
    expect(await turn('write', { path: 'src/x.js', content: 'y' })).toContain('block');
    expect(await turn('write', { path: 'src/x.js', content: 'z' })).toBe('');
  });

  test('asks with a call that succeeds: it has the fields that the visit must state and the mode that the hop needs', async () => {
    const { edit } = fixtureSpecs.peripherals;
    const stated = { kind: 'stated', type: 'string', optional: false } as const;
    const specs = {
      ...fixtureSpecs,
      peripherals: { ...fixtureSpecs.peripherals, edit: { ...edit!, fruit: { ...edit!.fruit, finding: stated } } },
    };
    const { session, send } = await world({ specs });
    await toEdit(session);
    await session.step({ tool: 'write', args: { path: 'src/x.js', content: 'x' } });
    await must(session.setMode({ to: 'discuss', summary: 'it is done' }));
    const { reason } = JSON.parse((await send({ hook_event_name: 'Stop', stop_hook_active: false })).stdout);
    const input = JSON.parse(/ with (\{.*\}), and say there/.exec(reason)?.[1] ?? '{}');
    expect(input).toMatchObject({ to: 'reflect', mode: 'diagnose', fruit: { finding: '…' } });
    expect(await agentSession(session).call({ name: 'hop', input })).toMatchObject({ status: 'ok' });
    expect((await send({ hook_event_name: 'Stop', stop_hook_active: false })).stdout).toBe('');
  });

  test('proposes no hop that a person would have to approve', async () => {
    const gates = [{ kind: 'approval', by: 'operator' }] as const;
    const edges = fixtureSpecs.edges.map((edge) => (edge.to === 'reflect' ? { ...edge, gates } : edge));
    const { session, send } = await world({ specs: { ...fixtureSpecs, edges } });
    await toEdit(session);
    await session.step({ tool: 'write', args: { path: 'src/x.js', content: 'x' } });
    const { stdout } = await send({ hook_event_name: 'Stop', stop_hook_active: false });
    expect(stdout).toContain('leave edit by one of its exits');
  });

  test('asks nothing if the agent did nothing', async () => {
    const { session, send } = await world();
    await must(session.start('explore'));
    expect(await send({ hook_event_name: 'Stop', stop_hook_active: false })).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    });
  });
});

describe('a hook of Codex that cannot decide', () => {
  test.each([
    ['nothing', null],
    ['a text', 'PreToolUse'],
    ['no event', {}],
    ['an unknown event', { hook_event_name: 'PreCoffee', session_id: 's', cwd: '/' }],
    ['a call without a tool', { hook_event_name: 'PreToolUse', session_id: 's', cwd: '/' }],
    ['a folder that is not there', { hook_event_name: 'SessionStart', session_id: 's', cwd: '/no/such/folder' }],
  ])('refuses the call if the event is %s', async (_, event) => {
    const { host } = await world();
    const { exit, stdout, stderr } = await handleCodexEvent(event, host, {});
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain('hopgate could not decide');
  });

  test.each([{ command: 7 }, {}, null, 'x'])('refuses an unreadable patch or command: %j', async (input) => {
    const { session, call } = await world();
    await toEdit(session);
    for (const tool of ['apply_patch', 'Bash', 'view_image']) expect((await call(tool, input as object)).exit).toBe(2);
  });

  test('refuses the first stop if the host fails, and allows the second', async () => {
    const { host, root } = await world();
    const broken = { ...host, conversation: async () => Promise.reject(new Error('the store is gone')) };
    const event = { session_id: 's', cwd: root, hook_event_name: 'Stop' };
    expect(await handleCodexEvent({ ...event, stop_hook_active: false }, broken, {})).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('the store is gone'),
    });
    expect(await handleCodexEvent({ ...event, stop_hook_active: true }, broken, {})).toMatchObject({ exit: 0 });
  });
});

test('every event is written to the conversation record', async () => {
  const { session, records, send, call } = await world();
  await must(session.start('explore'));
  await send({ hook_event_name: 'SessionStart', source: 'startup' });
  await call('Bash', { command: 'ls' }, { tool_use_id: 'c' });
  const events = records.get('main')?.events ?? [];
  expect(events.map(({ name }) => name)).toEqual([
    'SessionStart',
    'SessionStart answered',
    'SessionStart answered',
    'PreToolUse',
  ]);
  expect(events.at(-1)).toMatchObject({ toolUseId: 'c' });
});

describe('a report of the operator’s acts and notes', () => {
  test('reaches the model once: with a refusal, a result, a prompt, or before the agent stops', async () => {
    const { session, call, send } = await world();
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.start('explore'));
    await session.note('look into the tests');
    const { stderr } = await call('Bash', { command: 'ls' });
    expect(stderr).toContain('- wrote to you: look into the tests');
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'there', by: 'operator' }));
    const prompted = await send({ hook_event_name: 'UserPromptSubmit', prompt: 'go on' });
    expect(contextOf(prompted.stdout)).toContain('- moved you from explore to edit by hop-edit: there');
    await session.note('second');
    const done = {
      hook_event_name: 'PostToolUse',
      tool_name: 'x',
      tool_input: {},
      tool_use_id: 'p',
      tool_response: 'ok',
    };
    expect(contextOf((await send(done)).stdout)).toContain('second');
    expect((await send(done)).stdout).toBe('');
    await session.note('third');
    const stopped = JSON.parse((await send({ hook_event_name: 'Stop', stop_hook_active: false })).stdout);
    expect(stopped).toMatchObject({ decision: 'block', reason: expect.stringContaining('third') });
  });
});
