import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { trustCurrentConfig } from '../../../src/project/trust.ts';
import type { Fields } from '../../../src/spec/types.ts';
import { sample } from '../../depth.ts';
import { SERVER } from '../../server-name.ts';
import { World } from './claude-conversation.ts';

const own = (tool: string) => `mcp__plugin_hopgate_${SERVER}__${tool}`;

let world: World;
beforeEach(async () => {
  world = new World();
  await world.sendEvent('SessionStart', { source: 'startup' });
});
afterEach(() => world.close());

describe('a call of one of the client’s own tools', () => {
  it('is refused and recorded while the mode forbids it, and the refusal names the remedy', async () => {
    const read = await world.call('Read', { file_path: world.path('src/a.js') });
    expect(read.verdict).toBe('blocked');
    expect(read.answer.stdout).toBe('');
    expect(read.reason).toContain('mode-forbids');
    expect(read.reason).toContain(`mcp__plugin_hopgate_${SERVER}__mode`);
    expect(await world.evidence()).toContain('denial mode-forbids');
  });

  it('runs in the client after the gate has allowed it, and its result is recorded', async () => {
    await world.lead('explore', 'diagnose');
    const read = await world.call('Read', { file_path: world.path('src/a.js') });
    expect(read.verdict).toBe('allowed');
    await world.done(read.id, 'Read', {
      type: 'text',
      file: { filePath: world.path('src/a.js'), content: 'one\n', numLines: 1, startLine: 1, totalLines: 1 },
    });
    expect((await world.evidence()).at(-1)).toBe('step read ok, read src/a.js');
    expect(await world.session(async (session) => session.state.steps)).toBe(1);
  });

  it('may read a result that Claude Code saved for this conversation, and no other file there', async () => {
    await world.lead('explore', 'diagnose');
    const folder = join(world.folder, 'conversation');
    const saved = join(folder, 'tool-results', 'b1.txt');
    mkdirSync(join(folder, 'tool-results'), { recursive: true });
    writeFileSync(saved, 'long\n');
    writeFileSync(join(folder, 'other.txt'), 'other\n');
    symlinkSync('../other.txt', join(folder, 'tool-results', 'link.txt'));
    linkSync(join(folder, 'other.txt'), join(folder, 'tool-results', 'hard.txt'));
    const read = (file_path: string) => world.call('Read', { file_path }, { transcript_path: `${folder}.jsonl` });
    const { verdict, id } = await read(saved);
    expect(verdict).toBe('allowed');
    await world.done(id, 'Read', { type: 'text', file: { filePath: saved, content: 'long\n' } });
    for (const name of [
      'link.txt',
      'hard.txt',
      '../other.txt',
      'none.txt',
      '..',
      'sub/b1.txt',
      '../tool-results/b1.txt',
    ])
      expect([name, (await read(`${folder}/tool-results/${name}`)).verdict]).toEqual([name, 'blocked']);
    expect((await world.call('Read', { file_path: saved })).verdict).toBe('blocked');
    expect(
      (await world.call('Write', { file_path: saved, content: '' }, { transcript_path: `${folder}.jsonl` })).verdict,
    ).toBe('blocked');
  });

  it('may write a plan of Claude Code in plan mode, and no other file there', async () => {
    const plans = join(world.folder, 'claude', 'plans');
    mkdirSync(plans, { recursive: true });
    writeFileSync(join(plans, 'there.md'), 'x');
    symlinkSync(world.path('src/a.js'), join(plans, 'link.md'));
    symlinkSync('none', join(plans, 'loose.md'));
    const transcript_path = join(world.folder, 'claude/projects/-repo/c.jsonl');
    const write = async (name: string, permission_mode = 'plan') => {
      const input = { file_path: `${plans}/${name}`, content: 'x' };
      return (await world.call('Write', input, { transcript_path, permission_mode })).verdict;
    };
    expect([await write('new.md'), await write('there.md')]).toEqual(['allowed', 'allowed']);
    for (const name of ['link.md', 'loose.md', 'new.sh', '../x.md', 'sub/x.md', '../plans/x.md'])
      expect([name, await write(name)]).toEqual([name, 'blocked']);
    expect(await write('new.md', 'bypassPermissions')).toBe('blocked');
  });

  it('has a durable intent before it runs and its observed effects afterwards', async () => {
    await world.lead('edit', 'execute');
    const edit = await world.call('Edit', {
      file_path: world.path('src/a.js'),
      old_string: 'one',
      new_string: 'two',
      replace_all: false,
    });
    expect(edit.verdict).toBe('allowed');
    expect((await world.evidence()).at(-1)).toBe('intent edit');
    writeFileSync(world.path('src/a.js'), 'two\n');
    await world.done(edit.id, 'Edit', { filePath: world.path('src/a.js'), oldString: 'one', originalFile: 'one\n' });
    expect((await world.evidence()).at(-1)).toBe('outcome edit ok, modify src/a.js');
  });

  it('shows the model a finding about its change', async () => {
    await world.lead('edit', 'execute');
    const content = "import test from 'node:test';\ntest.skip('a', () => {});\n";
    const write = await world.call('Write', { file_path: world.path('src/a.test.js'), content });
    expect(write.verdict).toBe('allowed');
    writeFileSync(world.path('src/a.test.js'), content);
    const { context } = await world.done(write.id, 'Write', { type: 'create', filePath: world.path('src/a.test.js') });
    expect(context).toMatch(/findings.*\nsrc\/a\.test\.js: the file skips or singles out tests in 1 place/);
  });

  it('is refused outside the scope', async () => {
    await world.lead('edit', 'execute');
    const write = await world.call('Write', { file_path: world.path('package.json'), content: '{}' });
    expect(write.verdict).toBe('blocked');
    expect(write.reason).toContain('out-of-scope');
  });

  const READ_AS_ANOTHER: readonly (readonly [tool: string, input: Fields])[] = [
    ['Read', { file_path: '~/a.js' }],
    ['Read', { file_path: ' /etc/passwd' }],
    ['Grep', { pattern: 'a', path: 'src/.env /.' }],
    ['Read', { file_path: 'src/e\u0301.js' }],
    ['Grep', { pattern: 'a', path: '~' }],
    ['Glob', { pattern: '*', path: '~/' }],
    ['NotebookEdit', { notebook_path: '~/a.ipynb', new_source: '' }],
  ];
  it.each(sample(READ_AS_ANOTHER, 3))(
    'is refused if Claude Code reads its path as another one: %s %j',
    async (tool, input) => {
      await world.lead('edit', 'execute');
      const { verdict, reason } = await world.call(tool, input);
      expect(verdict).toBe('blocked');
      expect(reason).toContain('which Claude Code reads as another one');
    },
  );

  it('is judged by the folder that its event names, also through a link', async () => {
    await world.lead('explore', 'diagnose');
    mkdirSync(join(world.folder, 'beside', 'src'), { recursive: true });
    writeFileSync(join(world.folder, 'beside', 'src', 'a.js'), 'other\n');
    symlinkSync(world.root, join(world.folder, 'link'));
    const read = (cwd: string) => world.call('Read', { file_path: 'src/a.js' }, { cwd: join(world.folder, cwd) });
    expect((await read('beside')).verdict).toBe('blocked');
    expect((await read('link')).verdict).toBe('allowed');
  });

  const PATTERNS: readonly (readonly [tool: string, input: { pattern: string; path?: string }, why: string])[] = [
    ['Glob', { pattern: 'LINK/*' }, 'leads out of the root'],
    ['Glob', { pattern: 'LINK/*', path: 'src' }, 'leads out of the root'],
    ['Glob', { pattern: '/etc/*' }, 'outside the root'],
    ['Glob', { pattern: 'ROOT/masked/*', path: 'src' }, 'is masked'],
    ['Glob', { pattern: 'ROOT /*' }, 'which Claude Code reads as another one'],
  ];
  it.each(sample(PATTERNS, 3))(
    'is judged by the folder that an absolute pattern names: %s %j',
    async (tool, { pattern, ...input }, why) => {
      await world.lead('explore', 'diagnose');
      world.write('masked/.env', 'KEY=1\n');
      symlinkSync('/etc', world.path('link'));
      const named = pattern.replace('LINK', world.path('link')).replace('ROOT', world.root);
      const { verdict, reason } = await world.call(tool, { ...input, pattern: named });
      expect([verdict, reason]).toEqual(['blocked', expect.stringContaining(why)]);
      expect((await world.call(tool, { pattern: `${world.root}/src/*.js` })).verdict).toBe('allowed');
    },
  );

  it('may send a message to the user, but no file', async () => {
    expect((await world.call('SendUserMessage', { message: 'done', status: 'normal' })).verdict).toBe('allowed');
    const { verdict, reason } = await world.call('SendUserMessage', { message: 'x', attachments: ['/etc/passwd'] });
    expect([verdict, reason]).toEqual(['blocked', expect.stringContaining('leave out the argument attachments')]);
  });

  it('may plan the next turn in words, but not by a slash command', async () => {
    const wake = (prompt: string) => world.call('ScheduleWakeup', { delaySeconds: 60, reason: 'x', prompt });
    expect((await wake('/deploy now')).reason).toContain('would run a slash command later');
    expect((await wake('see whether src/a is built')).verdict).toBe('allowed');
  });

  it.each(['Glob', 'Grep'])('searches the folder of its event if %s names none', async (tool) => {
    await world.lead('explore', 'diagnose');
    mkdirSync(join(world.folder, 'beside'));
    const search = (cwd: string, input = {}) => world.call(tool, { pattern: '*', ...input }, { cwd });
    expect((await search(join(world.folder, 'beside'))).verdict).toBe('blocked');
    expect((await search(join(world.folder, 'beside'), { path: '' })).verdict).toBe('blocked');
    expect((await search(world.path('src'))).verdict).toBe('allowed');
  });

  const CONTROLS_THE_GATE = [
    '.claude/settings.local.json',
    '.claude/skills/x/SKILL.md',
    '.mcp.json',
    '.codex/config.toml',
    'hopgate.yaml',
    'src/.claude/settings.json',
  ];
  it.each(sample(CONTROLS_THE_GATE, 2))('never writes %s, which could disable the gate', async (file) => {
    await world.lead('edit', 'execute');
    const write = await world.call('Write', { file_path: world.path(file), content: '{"disableAllHooks":true}' });
    expect(write.verdict).toBe('blocked');
    expect(await world.evidence()).toContain('denial out-of-scope');
  });

  it('is recorded as failed if it fails', async () => {
    await world.lead('edit', 'execute');
    const write = await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    await world.sendEvent('PostToolUseFailure', { tool_name: 'Write', tool_use_id: write.id, error: 'EACCES' });
    expect((await world.evidence()).at(-1)).toBe('outcome write failed');
  });
});

describe('Bash', () => {
  it('is replaced by the sandboxed runner after the gate has allowed the command', async () => {
    await world.lead('explore', 'diagnose');
    const bash = await world.call('Bash', { command: 'ls', dangerouslyDisableSandbox: true });
    expect(bash.verdict).toBe('allowed');
    // Claude Code judges the agent's text; the text never reaches a shell.
    expect(bash.input?.['command']).toMatch(/^\/opt\/hopgate-run [0-9a-f]{32}; exit;\nls$/);
    expect(bash.decision).toBeNull();
    expect(bash.input).not.toHaveProperty('dangerouslyDisableSandbox');
    expect(bash.context).toBe('');
  });

  it('stays in the background if that was requested', async () => {
    await world.lead('explore', 'diagnose');
    const bash = await world.call('Bash', { command: 'ls', run_in_background: true });
    expect(bash.context).toContain('runs in the background');
    expect(bash.input?.['run_in_background']).toBe(true);
    expect(bash.input).not.toHaveProperty('timeout');
  });

  it('is refused if the mode forbids it', async () => {
    const bash = await world.call('Bash', { command: 'ls' });
    expect(bash.verdict).toBe('blocked');
    expect(await world.evidence()).toContain('denial mode-forbids');
  });
});

describe('any other tool of Claude Code', () => {
  const OTHERS = [
    'Monitor',
    'CronCreate',
    'Workflow',
    'EnterWorktree',
    'Skill',
    'SomethingNew',
    'mcp__other__delete',
    'mcp__hopgate__hop',
    'WebSearch',
  ];
  it.each(sample(OTHERS, 3))('is refused if it is %s, which could act outside the gate', async (tool) => {
    await world.lead('edit', 'execute');
    const call = await world.call(tool, { command: 'touch x' });
    expect(call.verdict).toBe('blocked');
    expect(call.reason).toContain('What to do:');
  });

  it.each(sample(['TodoWrite', 'ToolSearch', 'Agent', 'AskUserQuestion'], 2))(
    'is allowed if it is %s, which affects only the client',
    async (tool) => {
      expect((await world.call(tool, {})).verdict).toBe('allowed');
    },
  );

  it('is passed to the server if it is hopgate’s own; the server decides it again', async () => {
    for (const tool of ['hop', 'mode', 'status', 'glob'])
      expect(await world.call(own(tool), { to: 'edit' }), tool).toMatchObject({
        verdict: 'allowed',
        decision: 'allow',
      });
  });

  it.each([
    ['read', { path: 'src/a.js' }, 'Read', '"file_path":"ROOT/src/a.js"'],
    ['edit', { path: 'src/a.js', old: 'one', new: 'two' }, 'Edit', '"old_string":"one","new_string":"two"'],
    ['write', { path: 'src/b.js', content: 'b' }, 'Write', '"content":"b"'],
    ['bash', { command: 'rm -rf src' }, 'Bash', '"command":"rm -rf src"'],
  ])('is left to Claude Code’s own rules if it is %s', async (tool, args, native, input) => {
    await world.lead('edit', 'execute');
    const { verdict, reason } = await world.call(own(tool), args);
    expect(verdict).toBe('blocked');
    expect(reason).toContain(`call ${native} with {`);
    expect(reason).toContain(input.replace('ROOT', world.root));
  });

  it('needs the person’s answer if it searches and the user has rules for reading, which cannot be applied to a search', async () => {
    world.write('.claude/settings.local.json', '{"permissions":{"deny":["Read(./secrets/**)"]}}');
    expect(await world.call(own('grep'), { pattern: 'x' })).toMatchObject({ verdict: 'allowed', decision: 'ask' });
    world.write('.claude/settings.local.json', '{"permissions":{"deny":["Reading"],"allow":["Read"]}}');
    expect(await world.call(own('grep'), { pattern: 'x' })).toMatchObject({ decision: 'allow' });
    world.write('.claude/settings.local.json', 'not JSON');
    expect(await world.call(own('grep'), { pattern: 'x' })).toMatchObject({ decision: 'ask' });
  });

  const ROLES: readonly (readonly [role: string, effect: string, native: string])[] = [
    ['path:read', 'observe', 'Read'],
    ['path:write', 'act', 'Edit'],
    ['path:write', 'act', 'Write'],
    ['command', 'observe', 'Bash'],
    ['url', 'observe', 'WebFetch'],
    ['text', 'observe', 'mcp__notes__look'],
    ['text', 'observe', 'mcp__notes'],
  ];
  it.each(sample(ROLES, 3))(
    'needs the person’s answer if it has an argument of the role %s and the user’s rules cover such arguments',
    async (role, effect, native) => {
      const limits = 'limits: { seconds: 1, output-bytes: 1 }';
      const here = new World({
        'hopgate.yaml': 'specs: specs\n',
        'src/a.js': 'one\n',
        'specs/tools.yaml': `tools:
  mine:
    purpose: Is the user’s own.
    upstream: { server: notes, tool: look }
    effect: ${effect}
    parameters:
      - { name: what, role: "${role}", description: The subject. }
      - { name: how, role: text, description: The manner. }
    ${limits}
  count:
    purpose: Counts words.
    effect: observe
    parameters: [{ name: text, role: text, description: The text. }]
    ${limits}
`,
        'specs/peripherals/work.yaml': `id: work
purpose: Works.
tools: [mine, count]
scope: { paths: [src/] }
entry: [default]
exit: [done]
`,
      });
      vi.stubEnv('XDG_STATE_HOME', here.env['XDG_STATE_HOME']);
      onTestFinished(async () => {
        await here.close();
        vi.unstubAllEnvs();
      });
      await trustCurrentConfig(here.root, here.env);
      await here.sendEvent('SessionStart', { source: 'startup' });
      const setRule = (rule: string) =>
        here.write('.claude/settings.local.json', JSON.stringify({ permissions: { deny: [rule], allow: [native] } }));
      const decision = async (tool: string, input: Fields) => (await here.call(own(tool), input)).decision;
      const subject = { what: 'src/a.js', how: 'well' };
      setRule(native.startsWith('mcp') ? native : `${native}(secrets/**)`);
      expect(await decision('mine', subject)).toBe('ask');
      expect(await decision('count', { text: 'a' })).toBe('allow');
      setRule('Glob');
      expect(await decision('mine', subject)).toBe(effect === 'act' || role === 'url' ? null : 'allow');
    },
  );

  it('is judged by the user’s rules beside Claude Code’s transcripts, whatever the environment of the hook says', async () => {
    const transcript_path = join(world.folder, 'claude/projects/-repo/c.jsonl');
    const grep = () => world.call(own('grep'), { pattern: 'x' }, { transcript_path });
    expect(await grep()).toMatchObject({ decision: 'allow' });
    mkdirSync(join(world.folder, 'claude'));
    writeFileSync(join(world.folder, 'claude/settings.json'), '{"permissions":{"deny":["Read(./secrets/**)"]}}');
    expect(await grep()).toMatchObject({ decision: 'ask' });
  });

  it('is left to Claude Code’s own questions after the gate has allowed it', async () => {
    await world.lead('edit', 'execute');
    for (const [tool, input] of [
      ['Read', { file_path: world.path('src/a.js') }],
      ['Write', { file_path: world.path('src/b.js'), content: 'b' }],
      ['ExitPlanMode', { plan: 'x' }],
      ['Agent', { prompt: 'x' }],
    ] as const)
      expect(await world.call(tool, input), tool).toMatchObject({ verdict: 'allowed', decision: null });
  });

  it('is recorded as not run if the user or a rule denied it, and does not count as a missing hook', async () => {
    await world.lead('edit', 'execute');
    const { id } = await world.call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    const transcript = join(world.folder, 'conversation.jsonl');
    const content = [{ type: 'tool_use', id, name: 'Write', input: {} }];
    const result = [{ type: 'tool_result', tool_use_id: id, is_error: true, content: 'Permission … has been denied.' }];
    writeFileSync(
      transcript,
      `${JSON.stringify({ message: { role: 'assistant', content } })}\n${JSON.stringify({ message: { role: 'user', content: result } })}\n`,
    );
    const { notice } = await world.sendEvent('UserPromptSubmit', { prompt: 'x', transcript_path: transcript });
    expect(notice).toBeNull();
    expect((await world.record()).notes['silent']).toBeUndefined();
    expect((await world.evidence()).at(-1)).toBe('outcome write failed');
  });

  it('is refused for web pages, with hopgate’s own tool as the remedy', async () => {
    world.write('hopgate.yaml', 'web: { allow: [docs.example.com] }\n');
    await world.lead('explore', 'diagnose');
    const fetched = await world.call('WebFetch', { url: 'https://docs.example.com/', prompt: 'what is it' });
    expect(fetched.verdict).toBe('blocked');
  });
});

describe('an install that needs an approval', () => {
  const YAML = 'install: [{ run: [npm, ci], hosts: [registry.example.com] }]\n';
  const install = async (approve: readonly string[]) => {
    const here = new World({ 'src/a.js': 'one\n', 'package-lock.json': '{}\n', 'hopgate.yaml': YAML });
    onTestFinished(() => here.close());
    vi.stubEnv('XDG_STATE_HOME', here.env['XDG_STATE_HOME']);
    onTestFinished(() => void vi.unstubAllEnvs());
    await trustCurrentConfig(here.root, here.env);
    await here.sendEvent('SessionStart', { source: 'startup' });
    await here.sendEvent('SessionStart', { source: 'startup' });
    const { sessionId } = await here.record();
    await here.host.sessions.claim(here.root, sessionId, { approve });
    await here.lead('edit', 'execute');
    return here.call('Bash', { command: 'npm ci', description: 'x' });
  };

  it('is left to the tool that can ask a person', async () => {
    const { verdict, reason } = await install([]);
    expect([verdict, reason]).toEqual([
      'blocked',
      expect.stringMatching(/call mcp__\S*__install with \{"command":"npm ci"\}/),
    ]);
  });

  it('runs as a command if the operator approved it in advance', async () => {
    const { verdict, input } = await install(['install']);
    expect([verdict, input?.['command']]).toEqual([
      'allowed',
      expect.stringMatching(/^\S*\/opt\/hopgate-run .*; exit;\nnpm ci$/),
    ]);
  });
});
