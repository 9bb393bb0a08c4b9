import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { renderResult } from '../../../src/adapters/core/render-result.ts';
import type { PeripheralSpec } from '../../../src/spec/types.ts';
import { depth } from '../../depth.ts';
import { lead, no, fixtureSpecs as SPECS, stage, yes } from '../../session/sessions.ts';

describe('an answer', () => {
  it('to a hop names the tools that are available now', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    const answer = await agentSession(session).call({
      name: 'hop',
      input: { to: 'edit', exit: 'found-target', reason: 'x' },
    });
    expect(answer).toMatchObject({
      status: 'ok',
      toolsChanged: true,
      data: { to: 'edit', tools: ['read', 'edit', 'write', 'bash'] },
    });
    expect(answer.text).toMatch(/^Now: in edit, mode execute; tools open: read, edit, write, bash\.\n# Where you are/);
  });

  it('with a refusal names the remedy, the first hop of the path, and the available tools', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    const { text, status } = await agentSession(session).call({ name: 'write', input: { path: 'src/a', content: '' } });
    expect(status).toBe('refused');
    expect(text).toMatch(/^refused: tool-not-allowed: explore has no tool write\.\nWhat to do: .*hop to edit/);
    const call = /First call: hop\((.*)\)\./.exec(text)?.[1] ?? '{}';
    expect(text).toContain('Now: in explore, mode execute; tools open: read, glob, grep, bash-readonly, web-fetch.');
    // The call that the hint shows is allowed.
    expect(await agentSession(session).call({ name: 'hop', input: JSON.parse(call) })).toMatchObject({ status: 'ok' });
  });

  it('about a failed server quotes its message once', async () => {
    const result = { content: [{ type: 'text', text: 'no sensor\nlook behind the door' }], isError: true };
    const outcome = { status: 'failed' as const, code: 'upstream-error', message: 'no sensor', result };
    const { session } = await stage({ results: { read: { outcome, effects: [] } } });
    await lead(session, 'explore');
    const { text } = await agentSession(session).call({ name: 'read', input: { path: 'src/a' } });
    expect(text).toBe('failed: upstream-error: no sensor\nlook behind the door');
  });

  it('with a refusal has no doubled full stops', async () => {
    const outcome = {
      status: 'refused' as const,
      code: 'out-of-scope' as const,
      argument: 'path',
      message: 'It leaves.',
      remedy: 'Stay.',
    };
    const { session } = await stage({ results: { read: { outcome, effects: [] } } });
    await lead(session, 'explore');
    const { text } = await agentSession(session).call({ name: 'read', input: { path: 'src/a' } });
    expect(text).toMatch(/It leaves\.\nWhat to do: Stay\.\n/);
  });

  it('with a refusal names the mode that makes tools available if none are', async () => {
    const { session } = await stage();
    await session.start('explore');
    const { text } = await agentSession(session).call({ name: 'nothing-of-the-kind', input: {} });
    expect(text).toContain('Available in explore: nothing in mode discuss (from discuss: diagnose).');
  });

  it('with a refusal shows a hop with all required fields', async () => {
    const { explore } = SPECS.peripherals as { [id: string]: PeripheralSpec };
    const summary = { kind: 'stated', type: 'string', optional: false };
    const peripherals = {
      ...SPECS.peripherals,
      explore: { ...explore!, fruit: { summary } as PeripheralSpec['fruit'] },
    };
    const { session } = await stage({ specs: { ...SPECS, peripherals } });
    await lead(session, 'explore');
    const { text } = await agentSession(session).call({ name: 'write', input: { path: 'src/a', content: '' } });
    expect(text).toContain('"fruit":{"summary":"…"}');
  });

  it('distinguishes a failure from a refusal', async () => {
    const failing = {
      outcome: { status: 'failed' as const, code: 'not-found', message: 'There is no "x".' },
      effects: [],
    };
    const { session } = await stage({ results: { read: failing } });
    await lead(session, 'edit');
    expect(await agentSession(session).call({ name: 'read', input: { path: 'x' } })).toMatchObject({
      status: 'failed',
      text: 'failed: not-found: There is no "x".',
      denial: null,
    });
  });

  it('to a call that a person rejected says so', async () => {
    const { session } = await stage({ approver: yes });
    await session.setMode({ to: 'diagnose' });
    const answer = await agentSession(session).call({ name: 'mode', input: { to: 'execute' }, approved: null });
    expect(answer).toMatchObject({ status: 'refused', denial: { code: 'approval-required' } });
    expect(answer.text).toContain('the person who was asked declined it');
    expect(answer.text).not.toContain('ask the operator');
  });

  it('to a call with an approval is a refusal if another request was shown', async () => {
    const { session } = await stage({ approver: no });
    await session.setMode({ to: 'diagnose' });
    const agent = agentSession(session);
    const asked = await agent.wants({ name: 'mode', input: { to: 'execute', reason: 'one thing' } });
    if (!asked) throw new Error('nothing was asked');
    const approved = { hash: asked.hash, by: 'ann' };
    expect(await agent.call({ name: 'mode', input: { to: 'execute', reason: 'another' }, approved })).toMatchObject({
      status: 'refused',
    });
    expect(await agent.call({ name: 'mode', input: { to: 'execute', reason: 'one thing' }, approved })).toMatchObject({
      status: 'ok',
    });
  });
});

describe('a hop with a change of mode', () => {
  const input = { to: 'edit', exit: 'hop-edit', reason: 'I fix a', mode: 'execute', 'exit-criteria': 'a is fixed' };

  it('passes through the required modes, each with its approval, and then hops', async () => {
    const { session } = await stage({ approver: no });
    await session.start('explore');
    const agent = agentSession(session);
    const wanted = await agent.wants({ name: 'hop', input });
    expect(wanted).toMatchObject({ action: { kind: 'mode', from: 'diagnose', to: 'execute' }, reason: 'I fix a' });
    expect(session.state.mode).toBe('discuss'); // `wants` changes no state
    const approved = { hash: wanted!.hash, by: 'ann' };
    const { status, text } = await agent.call({ name: 'hop', input, approved });
    expect(status).toBe('ok');
    expect(text).toMatch(/^Now: in edit, mode execute;/);
    const events = (await session.evidence()).map(({ body }) => (body as { event: string }).event);
    expect(events.slice(2)).toEqual(['mode', 'approval', 'mode', 'stop', 'hop', 'start']);
  });

  it('does not hop if a mode change is refused', async () => {
    const { session } = await stage({ approver: no });
    await session.start('explore');
    const agent = agentSession(session);
    const answer = await agent.call({ name: 'hop', input, approved: null });
    expect(answer).toMatchObject({ status: 'refused', denial: { code: 'approval-required' } });
    expect(session.state).toMatchObject({ peripheral: 'explore', mode: 'diagnose' });
    for (const mode of ['nothing', 7, { to: 'execute' }])
      expect(await agent.call({ name: 'hop', input: { ...input, mode } })).toMatchObject({
        status: 'refused',
        denial: { code: 'mode-not-allowed' },
      });
    expect(session.state.peripheral).toBe('explore');
  });

  it('asks for the hop’s approval after the mode’s', async () => {
    const { session } = await stage({ approver: yes });
    await lead(session, 'test');
    await session.step({ tool: 'bash-test', args: {} });
    await session.setMode({ to: 'discuss', summary: 'tested' });
    const deploy = { to: 'deploy', exit: 'pass', reason: 'ship', mode: 'diagnose' };
    expect(await agentSession(session).wants({ name: 'hop', input: deploy })).toMatchObject({
      action: { kind: 'hop', to: 'deploy' },
    });
    expect(session.state.mode).toBe('discuss');
  });

  it('leaves the mode as it is and asks nobody if the hop itself would be refused', async () => {
    const { session } = await stage();
    await session.start('explore');
    const agent = agentSession(session);
    for (const hopeless of [{ to: 'nowhere' }, { to: 'deploy', exit: 'hop-deploy' }, { exit: 'no-such-exit' }]) {
      const asked = { ...input, ...hopeless };
      expect(await agent.wants({ name: 'hop', input: asked })).toBeNull();
      expect(await agent.call({ name: 'hop', input: asked })).toMatchObject({ status: 'refused' });
      expect(session.state).toMatchObject({ peripheral: 'explore', mode: 'discuss' });
    }
  });

  it('is proposed by the prompt if the mode forbids the tools of the destination', async () => {
    const { session } = await stage();
    await session.start('explore');
    const text = await agentSession(session).prompt();
    const call = JSON.parse(/Example: hop\((.*)\), with/.exec(text)?.[1] ?? '{}');
    expect(call).toMatchObject({ to: 'edit', mode: 'execute' });
    expect(await agentSession(session).call({ name: 'hop', input: call })).toMatchObject({ status: 'ok' });
    expect(session.state).toMatchObject({ peripheral: 'edit', mode: 'execute' });
  });
});

describe('a refusal by the mode', () => {
  it.each([
    ['read', { path: 'src/a.ts' }, 'explore', 'call mode({"to":"diagnose","reason":"…"})'],
    [
      'edit',
      { path: 'src/a.ts', old: 'a', new: 'b' },
      'edit',
      'call mode({"to":"diagnose","reason":"…"}), then mode({"to":"execute","reason":"…"}) (needs: approval by operator)',
    ],
  ])('of %s names the exact calls that make it possible', async (tool, args, place, calls) => {
    const { session } = await stage();
    await lead(session, place as 'edit');
    await session.setMode({ to: 'discuss', summary: 'x' });
    const { text } = await agentSession(session).call({ name: tool, input: args });
    expect(text).toContain(calls);
  });
});

describe('advice after an error of the sandbox', () => {
  const printing = (stderr: string, exit = 1) =>
    stage({
      results: { 'bash-readonly': { outcome: { status: 'ok', result: { exit, stdout: '', stderr } }, effects: [] } },
    });
  it.each([
    ['touch: cannot touch x: Read-only file system', /commands cannot change files in explore; .* hop to edit/],
    ['curl: (6) Could not resolve host: x.org', /this command has no network; ask the operator/],
    [
      "chown: changing ownership of 'a': Operation not permitted",
      /permits no change of users, owners.*ask the operator/,
    ],
  ])('is given: %s', async (stderr, advice) => {
    const { session } = await printing(stderr);
    await lead(session, 'explore');
    const { text } = await agentSession(session).call({ name: 'bash-readonly', input: { command: 'x' } });
    expect(text).toMatch(advice);
  });
  it('follows a commit or branch that was not kept', async () => {
    const message = 'Not kept: the branch x. Commits, branches and tags are made with bash-git where the scope ships.';
    const outcome = { status: 'failed' as const, code: 'git-not-kept', message };
    const { session } = await stage({ results: { 'bash-readonly': { outcome, effects: [] } } });
    await lead(session, 'explore');
    const { text } = await agentSession(session).call({ name: 'bash-readonly', input: { command: 'git switch -c x' } });
    expect(text).toMatch(/ships\.\nhopgate: commits and branches are made with bash-git: .*hop to deploy/);
  });

  it('is omitted if the command succeeded', async () => {
    const { session } = await printing('Read-only file system', 0);
    await lead(session, 'explore');
    const { text } = await agentSession(session).call({ name: 'bash-readonly', input: { command: 'x' } });
    expect(text).not.toContain('hopgate:');
  });
});

describe('a model that claims to be the operator', () => {
  it.each([
    ['hop', { to: 'edit', reason: 'x', by: 'operator' }, 'entry-not-met'],
    ['hop', { hop: 'edit', reason: 'x', by: 'operator' }, 'entry-not-met'],
    ['mode', { to: 'execute', by: 'operator' }, 'mode-not-allowed'],
  ])('is refused: %s %j', async (name, input, code) => {
    const { session } = await stage();
    expect(await agentSession(session).call({ name, input })).toMatchObject({ denial: { code } });
  });
  it('cannot reset the mode', async () => {
    const { session } = await stage();
    await session.setMode({ to: 'diagnose' });
    const input = { to: 'discuss', by: 'operator', reset: true };
    expect(await agentSession(session).call({ name: 'mode', input })).toMatchObject({ status: 'refused' });
    expect(session.state.mode).toBe('diagnose');
  });
});

describe('any input of agentSession', () => {
  const names = fc.oneof(
    fc.constantFrom('hop', 'mode', 'status', 'why', 'read', 'edit', 'bash-test', '__proto__', 'constructor'),
    fc.string(),
  );
  const keys = fc.constantFrom(
    'to',
    'hop',
    'exit',
    'reason',
    'fruit',
    'summary',
    'by',
    'tool',
    'args',
    'path',
    '__proto__',
    'constructor',
  );
  const input = fc.oneof(fc.anything(), fc.dictionary(keys, fc.anything()), fc.array(fc.anything()));
  it('gets an answer without an exception, and only available tools run', async () => {
    const { session } = await stage();
    await lead(session, 'explore');
    const agent = agentSession(session);
    await fc.assert(
      fc.asyncProperty(names, input, async (name, input) => {
        const answer = await agent.call({ name, input });
        expect(['ok', 'failed', 'refused']).toContain(answer.status);
        expect(answer.text).not.toBe('');
        expect(answer.status === 'refused').toBe(answer.denial !== null && name !== 'why');
        await agent.wants({ name, input });
      }),
      { numRuns: depth(100, 400) },
    );
  });
  it('may be huge, or name no tool', async () => {
    const { session } = await stage();
    await lead(session, 'edit');
    const agent = agentSession(session);
    expect(await agent.call({ name: 'x'.repeat(1 << 20), input: {} })).toMatchObject({ status: 'refused' });
    expect(await agent.call({ name: null as never, input: null })).toMatchObject({ status: 'refused' });
    expect(await agent.call({ name: 'write', input: { path: 'src/a', content: 'x'.repeat(1 << 22) } })).toMatchObject({
      status: 'ok',
    });
  });
});

describe('a result in the form for the model', () => {
  const rows: readonly [string, Parameters<typeof renderResult>[0], string][] = [
    [
      'a file',
      { path: 'a.ts', text: 'one\ntwo\n', from: 1, to: 2, lines: 2, truncated: false },
      '     1\tone\n     2\ttwo',
    ],
    [
      'a part of a file',
      { path: 'a.ts', text: 'two\n', from: 2, to: 2, lines: 9, truncated: false },
      '     2\ttwo\n(lines 2 to 2 of 9; continue with offset 3)',
    ],
    [
      'a file that was cut',
      { path: 'a.ts', text: 'one\n', from: 1, to: 1, lines: 9, truncated: true },
      '     1\tone\n(lines 1 to 1 of 9; continue with offset 2; cut at the size limit)',
    ],
    ['an empty file', { path: 'a.ts', text: '', from: 1, to: 0, lines: 0, truncated: false }, '(a.ts is empty)'],
    [
      'a list of files',
      { files: ['a', 'b'], truncated: true },
      'a\nb\n(cut: there are more; narrow the pattern or the path)',
    ],
    ['no files', { files: [], truncated: false }, '(no file matches)'],
    ['matches', { matches: [{ path: 'a', line: 3, text: 'x' }], truncated: false, files: ['a'] }, 'a:3:x'],
    [
      'a command',
      { exit: 0, stdout: 'out\n', stderr: '', truncated: false, timedOut: false, seconds: 1 },
      '(exit 0)\nout',
    ],
    [
      'a command that failed',
      {
        exit: 2,
        stdout: '',
        stderr: 'bad\n',
        truncated: true,
        timedOut: true,
        signal: 'SIGKILL',
        dropped: [{ path: 'x', why: 'y' }],
      },
      '(exit 2; killed by SIGKILL; it timed out; the output was cut: head and tail are shown; a pipe through sed -n or grep shows the rest)\nstderr:\nbad\n{"dropped":[{"path":"x","why":"y"}]}',
    ],
    [
      'a test run',
      { exit: 1, stdout: '', stderr: '', verdict: 'fail', report: { failed: 1 } },
      '(exit 1; tests: fail)\n{"report":{"failed":1}}',
    ],
    [
      'a page',
      { url: 'https://a.example/', status: 200, title: 'A', text: 'hello', truncated: false, redirects: [] },
      'A\nhttps://a.example/\nhello\n{"status":200}',
    ],
    [
      'an MCP answer',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
      },
      'a\n(image: image/png)',
    ],
    [
      'resources of an MCP answer',
      {
        content: [
          { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'all of it' } },
          { type: 'resource', resource: { uri: 'file:///b', mimeType: 'application/zip', blob: 'AAAA' } },
          { type: 'resource_link', uri: 'https://c', name: 'c' },
        ],
      },
      '(resource file:///a)\nall of it\n(resource file:///b: application/zip)\n{"type":"resource_link","uri":"https://c","name":"c"}',
    ],
    [
      'data that an MCP answer gives as a text, too',
      { content: [{ type: 'text', text: '{\n "b": 2,\n "a": 1\n}' }], structuredContent: { a: 1, b: 2 } },
      '{\n "b": 2,\n "a": 1\n}',
    ],
    [
      'data of an MCP answer besides its text',
      { content: [{ type: 'text', text: 'two' }], structuredContent: { a: 1 } },
      'two\n{"structuredContent":{"a":1}}',
    ],
    ['an MCP failure', { content: [{ type: 'text', text: 'no' }], isError: true }, 'no'],
    ['anything else', { a: [1] }, '{"a":[1]}'],
    ['a text', 'hello', 'hello'],
    ['nothing', null, 'null'],
  ];
  it.each(rows)('is readable: %s', (_what, result, text) => expect(renderResult(result)).toBe(text));
  it('exists for any value', () => {
    const fields = ['exit', 'stdout', 'stderr', 'text', 'from', 'files', 'matches', 'content', 'url', 'truncated'];
    const shapes = fc.dictionary(fc.constantFrom(...fields), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shapes), (value) => {
        expect(renderResult(value as never)).toBeTypeOf('string');
      }),
    );
  });
});
