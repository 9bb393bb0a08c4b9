import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call, own, type Run } from './claude-world.ts';
import type { Step } from './messages-server.ts';

let world: ClaudeWorld;
beforeEach(() => {
  world = new ClaudeWorld({ 'src/a.js': 'one\n', 'src/secrets/x.txt': 'hidden-text\n' });
});
afterEach(() => world.close());

const done = { text: 'done' };
const bash = (command: string): Step => call('Bash', { command, description: 'for the test' });
const toEdit = [
  call(own('mode'), { to: 'diagnose', reason: 'look' }),
  call(own('hop'), { to: 'edit', exit: 'hop-edit', reason: 'go' }),
  call(own('mode'), { to: 'execute', reason: 'go', 'exit-criteria': 'done' }),
];
const inEdit = async (steps: readonly Step[], permissions: object, permissionMode: string): Promise<Run> => {
  world.write('.claude/settings.json', JSON.stringify({ permissions }));
  return world.run([...toEdit, ...steps, done, done], { own: ['--approve', 'execute'], permissionMode });
};
const ran = ({ results }: Run): readonly boolean[] => results.slice(3).map(({ failed }) => !failed);

describe.skipIf(!CLAUDE_BIN)('a Claude Code user’s own rules', () => {
  const deny = ['Bash(rm:*)', 'Read(./src/secrets/**)', 'Edit(./src/fixed.js)'];

  it.each(['bypassPermissions', 'acceptEdits'])(
    'are applied to the agent’s own command in the mode %s',
    async (mode) => {
      world.write('src/fixed.js', 'fixed\n');
      const run = await inEdit(
        [
          bash('rm -rf src'),
          bash('cd src && rm a.js'),
          bash('ls;\nrm src/a.js'),
          bash('cat src/secrets/x.txt'),
          call(own('bash'), { command: 'rm -rf src' }),
          call(own('read'), { path: 'src/secrets/x.txt' }),
          call('Edit', { file_path: world.path('src/fixed.js'), old_string: 'fixed', new_string: 'moved' }),
          bash('ls src'),
        ],
        { deny },
        mode,
      );
      expect(ran(run), JSON.stringify(run.results.slice(3))).toEqual([...Array(7).fill(false), true]);
      expect([world.read('src/a.js'), world.read('src/fixed.js')]).toEqual(['one\n', 'fixed\n']);
      expect(JSON.stringify(run.results)).not.toContain('hidden-text');
      // A refusal by the user must not be reported as a silent hook.
      expect(run.stderr).not.toContain('WARNING');
      expect(run.code).toBe(0);
    },
  );

  it('ask about the agent’s command, not about hopgate’s runner', async () => {
    const run = await inEdit(
      [bash('touch src/b.js'), bash('echo x > src/c.js')],
      { ask: ['Bash(echo:*)'] },
      'acceptEdits',
    );
    expect(ran(run), JSON.stringify(run.results.slice(3))).toEqual([true, false]);
    expect([world.read('src/b.js'), world.read('src/c.js')]).toEqual(['', null]);
  });

  it('allow in the default mode exactly what they allow without hopgate', async () => {
    const edit = call('Edit', { file_path: world.path('src/a.js'), old_string: 'one', new_string: 'two' });
    const read = call('Read', { file_path: world.path('src/a.js') });
    const steps = [bash('ls src'), bash('touch src/b.js'), bash('wc -c src/a.js > src/n.txt'), read, edit];
    const run = await inEdit(steps, { allow: ['Bash(touch src/b.js)'] }, 'default');
    expect(ran(run), JSON.stringify(run.results.slice(3))).toEqual([true, true, false, true, false]);
    expect([world.read('src/b.js'), world.read('src/n.txt'), world.read('src/a.js')]).toEqual(['', null, 'one\n']);
    expect(run.stderr).not.toContain('WARNING');
    expect((await world.hopgate('verify', run.session, '--root', world.root)).stdout).not.toMatch(/interrupted/);
  });

  it('are applied under an installed plugin to the agent’s own command', async () => {
    const allow = ['Bash(node -p 6*7)'];
    world.write('.claude/settings.local.json', `{ "permissions": ${JSON.stringify({ allow })} }`);
    expect((await world.hopgate('install', 'claude', '--scope', 'project')).code).toBe(0);
    const steps = [call(own('mode'), { to: 'diagnose', reason: 'look' }), bash('node -p 6*7'), bash('node -p 7*7')];
    const run = await world.run([...steps, done, done], { bare: true, permissionMode: 'default' });
    expect(
      run.results.map(({ failed }) => !failed),
      JSON.stringify(run),
    ).toEqual([true, true, false]);
    expect(run.results[1]?.text).toBe('42');
    expect(run.results[2]?.text).not.toMatch(/hopgate\/bin\/hook/);
    await world.hopgate('uninstall', 'claude', '--scope', 'project');
    expect(world.read('.claude/settings.local.json')).toBe(`{ "permissions": ${JSON.stringify({ allow })} }`);
  });

  it('are applied in plan mode, where the user sees the agent’s command and nothing acts', async () => {
    const { session } = await inEdit([], {}, 'default');
    const edit = call('Edit', { file_path: world.path('src/a.js'), old_string: 'one', new_string: 'two' });
    const read = call('Read', { file_path: world.path('src/a.js') });
    const acts = [bash('touch src/b.js'), bash('node -e 1 > src/c.js'), read, edit];
    const run = await world.run([bash('ls src'), ...acts, done, done], {
      own: ['--session', session],
      permissionMode: 'plan',
    });
    expect(
      run.results.map(({ failed }) => !failed),
      JSON.stringify(run.results),
    ).toEqual([true, false, false, true, false]);
    expect([world.read('src/a.js'), world.read('src/b.js'), world.read('src/c.js')]).toEqual(['one\n', null, null]);
    for (const command of ['touch src/b.js', 'node -e 1 > src/c.js'])
      expect(run.stdout).toContain(`; exit;\\n${command}"`);
  });

  it('do not weaken the sandbox: no outer shell reads the agent’s text', async () => {
    const texts = [
      'cat src/a.js | tee past-1 | sh -c "cat > past-2"',
      'true & touch past-1; touch past-2 &',
      'exit() { :; }; touch past-1',
      ') ; touch past-1; (',
      "cat <<'EOF' > past-1\nx\nEOF\ntouch past-2",
      'touch past-1 \\\n past-2 $(touch past-3) `touch past-4`',
      '; touch past-1',
      '\r\ntouch past-1\r',
      'alias exit=true; \\exit; touch past-1; for f in 1 2; do touch past-$f; done',
    ];
    const run = await inEdit(texts.map(bash), {}, 'bypassPermissions');
    expect(run.results).toHaveLength(3 + texts.length);
    expect(['past-1', 'past-2', 'past-3', 'past-4'].map((name) => world.read(name))).toEqual([null, null, null, null]);
  });
});
