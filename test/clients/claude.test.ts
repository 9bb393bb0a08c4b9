import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call, own, type Run, runToEnd } from './claude-world.ts';
import type { Step } from './messages-server.ts';

let world: ClaudeWorld;
beforeEach(() => {
  world = new ClaudeWorld();
});
afterEach(() => world.close());

const mode = (to: string) => call(own('mode'), { to, reason: 'for the test', 'exit-criteria': 'it is tested' });
const hop = (to: string, exit: string) => call(own('hop'), { to, exit, reason: 'for the test' });
const bash = (command: string) => call('Bash', { command, description: 'for the test' });
const done = { text: 'done' };
/** Into edit, where the agent may act. */
const toEdit = [mode('diagnose'), hop('edit', 'hop-edit'), mode('execute')];
const approved = { own: ['--approve', 'execute'] };

const outcomes = ({ results }: Run): readonly string[] =>
  results.map(({ name, failed }) => `${name.replace(/^mcp__.*__/, '')} ${failed ? 'refused' : 'ran'}`);
const lastText = ({ results }: Run): string => results.at(-1)?.text ?? '';

describe.skipIf(!CLAUDE_BIN)('Claude Code in hopgate', () => {
  it('does not run a denied tool, and the model reads the remedy', async () => {
    const run = await world.run([call('Write', { file_path: world.path('new.txt'), content: 'x' }), done]);
    expect(run.code, run.stderr + run.stdout).toBe(0);
    expect(world.read('new.txt')).toBeNull();
    expect(outcomes(run)).toEqual(['Write refused']);
    expect(lastText(run)).toContain('What to do:');
    expect(lastText(run)).toContain(own('hop'));
    expect(await world.evidence(run.session)).toContain('denial tool-not-allowed');
    expect((await world.hopgate('verify', run.session, '--root', world.root)).code).toBe(0);
  });

  it('runs refused calls anyway in an observe-only session, but shows no masked file', async () => {
    world.write('.env', 'TOKEN=secret-of-the-env\n');
    const script = [
      call('Write', { file_path: world.path('new.txt'), content: 'x' }),
      bash('echo made > made.txt; cat .env'),
      call('Read', { file_path: world.path('.env') }),
      call('WebSearch', { query: 'anything' }),
      done,
      done,
    ];
    const run = await world.run(script, { own: ['--observe'] });
    expect(run.code, run.stderr + run.stdout).toBe(0);
    expect([world.read('new.txt'), world.read('made.txt')]).toEqual(['x', 'made\n']);
    expect(outcomes(run).slice(0, 3)).toEqual(['Write ran', 'Bash ran', 'Read refused']);
    expect(JSON.stringify(run.results)).not.toContain('secret-of-the-env');
    const verified = await world.hopgate('verify', run.session, '--root', world.root);
    expect(verified.stdout).toMatch(/^observed .*enforcement would have refused 3 calls/);
  });

  it('can use the tools of the new peripheral in its next call after a hop', async () => {
    const write = call('Write', { file_path: world.path('src/new.js'), content: 'new\n' });
    const read = call('Read', { file_path: world.path('src/a.js') });
    const script = [mode('diagnose'), read, write, hop('edit', 'hop-edit'), mode('execute'), write, done, done];
    const run = await world.run(script, approved);
    expect(outcomes(run)).toEqual(['mode ran', 'Read ran', 'Write refused', 'hop ran', 'mode ran', 'Write ran']);
    expect(world.read('src/new.js')).toBe('new\n');
  });

  it('edits and writes natively, and the evidence has the changes', async () => {
    const run = await world.run(
      [
        ...toEdit,
        call('Read', { file_path: world.path('src/a.js') }),
        call('Edit', { file_path: world.path('src/a.js'), old_string: 'one', new_string: 'two' }),
        call('Write', { file_path: world.path('src/b.js'), content: 'b\n' }),
        done,
        done,
      ],
      approved,
    );
    expect(outcomes(run).slice(3)).toEqual(['Read ran', 'Edit ran', 'Write ran']);
    expect(world.read('src/a.js')).toBe('two\n');
    expect((await world.evidence(run.session)).slice(-5)).toEqual([
      'step read ok, read src/a.js',
      'intent edit',
      'outcome edit ok, modify src/a.js',
      'intent write',
      'outcome write ok, create src/b.js',
    ]);
    expect((await world.hopgate('verify', run.session, '--root', world.root)).code).toBe(0);
  });

  it('runs Bash in the sandbox without network and settings, and drops changes outside the scope', async () => {
    const closed = `(exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && echo network-open || echo network-closed`;
    const command = [
      'echo two > src/b.js; echo x > package.json; mkdir -p .claude .codex',
      `echo '{"disableAllHooks":true}' > .claude/settings.local.json; echo x > .mcp.json; echo x > .codex/hooks.json`,
      'echo x > /etc/hopgate-was-here; echo x > $HOME/was-here',
      closed,
    ].join('\n');
    const script: Step[] = [
      ...toEdit,
      bash(command),
      call('Write', { file_path: world.path('package.json'), content: '{}' }),
      done,
      done,
    ];
    const run = await world.run(script, approved);
    const [ran, write] = run.results.slice(3);
    expect(ran).toMatchObject({ name: 'Bash', failed: false });
    expect(ran?.text).toContain('network-closed');
    expect(world.read('src/b.js')).toBe('two\n');
    for (const file of ['package.json', '.claude/settings.local.json', '.mcp.json', '.codex/hooks.json'])
      expect(world.read(file), file).toBeNull();
    expect(existsSync('/etc/hopgate-was-here')).toBe(false);
    expect(existsSync(join(world.home, 'was-here'))).toBe(false);
    expect(write).toMatchObject({ name: 'Write', failed: true });
    expect(await world.evidence(run.session)).toContain('outcome bash ok, create src/b.js');
  });

  it('gets the output and exit status of Bash', async () => {
    const run = await world.run([mode('diagnose'), bash('cat src/a.js; echo bad >&2; exit 3'), done, done]);
    expect(run.results[1]).toMatchObject({ name: 'Bash', failed: true });
    expect(run.results[1]?.text).toMatch(/Exit code 3[\s\S]*one[\s\S]*bad/);
  });

  it('reads the part that it needs of an output that is too long to show', async () => {
    const readOn = (results: string) => {
      const [file_path = ''] = /\/\S*\/tool-results\/\S+/.exec(results) ?? [];
      return { calls: [{ name: 'Read', input: { file_path, offset: 5000, limit: 2 } }] };
    };
    const run = await world.run([mode('diagnose'), bash('seq 1 100000'), readOn, done, done]);
    expect(outcomes(run)).toEqual(['mode ran', 'Bash ran', 'Read ran']);
    expect(lastText(run)).toMatch(/^\s*5000\s+5000\n\s*5001\s+5001$/m);
    expect((await world.hopgate('verify', run.session, '--inhabited', '--root', world.root)).code).toBe(0);
  });

  it('runs Bash in the background, shows what it prints, and stops it with the visit', async () => {
    const command = 'echo started; echo back > src/bg.txt; sleep 600';
    const background = { command, description: 'x', run_in_background: true };
    const script: Step[] = [
      ...toEdit,
      call('Bash', background),
      call(own('bash-background'), { job: '1', wait: 30 }),
      hop('test', 'hop-test'),
      done,
      done,
    ];
    const run = await world.run(script, approved);
    expect(run.results.at(-2)?.text).toContain('started');
    expect(run.requests[4]?.texts.join('\n')).toContain('runs in the background');
    expect(world.read('src/bg.txt')).toBeNull();
    expect((await world.evidence(run.session)).slice(-5)).toEqual([
      'step bash-background ok',
      'step bash-background ok',
      'stop',
      'hop',
      'start',
    ]);
    expect((await world.hopgate('verify', run.session, '--root', world.root)).code).toBe(0);
  });

  it('gets the unchanged output of git, including leading white space', async () => {
    world.write('src/a.js', 'two\n');
    const run = await world.run([mode('diagnose'), bash('git status --short src; printf "\\n  x"'), done, done]);
    expect(run.results[1]).toMatchObject({ name: 'Bash', failed: false, text: ' M src/a.js\n\n  x' });
  });

  it('has each call of a batch decided separately', async () => {
    const reads = ['src/a.js', 'README.md'].map((file) => ({ name: 'Read', input: { file_path: world.path(file) } }));
    const batch = { calls: [...reads, { name: 'Write', input: { file_path: world.path('new.txt'), content: 'x' } }] };
    const run = await world.run([mode('diagnose'), batch, done, done]);
    expect(outcomes(run).slice(1).sort()).toEqual(['Read ran', 'Read ran', 'Write refused']);
    expect(world.read('new.txt')).toBeNull();
    const evidence = await world.evidence(run.session);
    expect(evidence.filter((event) => event.startsWith('step read ok'))).toHaveLength(2);
    expect(evidence).not.toContain('interrupted write');
  });

  it('is refused calls that act outside the gate: skills that run commands, monitors, agents in another working tree', async () => {
    world.write(
      '.claude/skills/bang/SKILL.md',
      '---\nname: bang\ndescription: bang\n---\nIt says !`echo bang > pwned $ARGUMENTS`\n',
    );
    world.write('.claude/skills/plain/SKILL.md', '---\nname: plain\ndescription: plain\n---\nBe brief $ARGUMENTS.\n');
    const run = await world.run(
      [
        ...toEdit,
        call('Skill', { skill: 'bang', args: '; echo injected > pwned' }),
        call('Skill', { skill: 'plain', args: 'for src/a.js' }),
        call('ToolSearch', { query: 'select:Monitor' }),
        call('Monitor', { description: 'x', command: 'echo x > pwned' }),
        call('Agent', { description: 'x', prompt: 'x', subagent_type: 'general-purpose', isolation: 'worktree' }),
        done,
        done,
      ],
      approved,
    );
    expect(outcomes(run).slice(3)).toEqual([
      'Skill refused',
      'Skill ran',
      'ToolSearch ran',
      'Monitor refused',
      'Agent refused',
    ]);
    expect(run.requests.flatMap(({ texts }) => texts).join('\n')).toContain('Be brief for src/a.js');
    expect(world.read('pwned')).toBeNull();
  });

  it('is controlled whatever the repository’s and the user’s settings, hooks and permissions allow', async () => {
    const allow = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`;
    const settings = {
      permissions: { allow: ['Bash', 'Write', 'Edit'], defaultMode: 'bypassPermissions' },
      hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: allow }] }] },
    };
    world.write('.claude/settings.json', JSON.stringify(settings));
    const cell = { cell_type: 'code', id: 'c1', source: ['1'], metadata: {}, outputs: [], execution_count: null };
    world.write('src/n.ipynb', JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    const notebook = world.path('src/n.ipynb');
    const background = { command: 'echo back > src/bg.txt; sleep 1', description: 'x', run_in_background: true };
    const run = await world.run(
      [
        ...toEdit,
        call('Write', { file_path: world.path('.claude/settings.local.json'), content: '{}' }),
        call('ToolSearch', { query: 'select:NotebookEdit' }),
        call('Read', { file_path: notebook }),
        call('NotebookEdit', { notebook_path: notebook, cell_id: 'c1', new_source: '2' }),
        call('Bash', background),
        done,
        done,
      ],
      { ...approved, args: ['--dangerously-skip-permissions'] },
    );
    expect(outcomes(run)[3]).toBe('Write refused');
    expect(world.read('.claude/settings.local.json')).toBeNull();
    expect((await world.evidence(run.session)).slice(-4)).toEqual([
      'intent edit',
      'outcome edit ok, modify src/n.ipynb',
      'step bash-background ok', // its start
      'step bash-background ok', // its end
    ]);
    expect(world.read('src/bg.txt')).toBeNull(); // a background command keeps no change
    const { stdout } = await world.hopgate('verify', run.session, '--inhabited');
    expect(stdout).toMatch(/P-3 +confinement +holds/);
  });

  it('is asked for the review once when the agent stops', async () => {
    const looked = await world.run([mode('diagnose'), call('Read', { file_path: world.path('src/a.js') }), done, done]);
    expect(looked.requests).toHaveLength(3); // nothing to review
    const write = call('Write', { file_path: world.path('src/b.js'), content: 'b' });
    const run = await world.run([...toEdit, write, done, done, done], approved);
    expect(run.requests).toHaveLength(6);
    expect(run.requests[5]?.texts.join('\n')).toContain('nobody has reviewed the work of this session');
  });

  it('is asked for the review in the turn that worked, once in a conversation of several turns', async () => {
    const read = call('Read', { file_path: world.path('src/a.js') });
    const write = (text: string) => call('Write', { file_path: world.path('src/b.js'), content: text });
    const first = await world.run([...toEdit, read, done, done], approved);
    const turn = (script: readonly Step[]) =>
      world.run(script, { own: ['--session', first.session, ...approved.own], args: ['--continue'] });
    const counts = [first.requests.length];
    for (const script of [
      [done, done],
      [bash('ls'), done, done],
      [write('b'), done, done],
      [read, done, done],
    ])
      counts.push((await turn(script)).requests.length);
    counts.push(
      (await turn([call('Read', { file_path: world.path('src/b.js') }), write('c'), done, done])).requests.length,
    );
    // Only the turn with a change gets one more request than it has calls and an answer.
    expect(counts).toEqual([toEdit.length + 2, 1, 2, 3, 2, 3]);
    expect((await world.hopgate('verify', first.session, '--root', world.root)).code).toBe(0);
  });

  it('shows the model its place at the start and after resuming the conversation in the same session', async () => {
    const first = await world.run([mode('diagnose'), done]);
    expect(first.requests[0]?.texts.join('\n')).toMatch(/In the peripheral "explore", in mode discuss[\s\S]*hop/);
    const again = await world.run([call('Read', { file_path: world.path('src/a.js') }), done, done], {
      own: ['--session', first.session],
      args: ['--continue'],
    });
    expect(again.requests[0]?.texts.join('\n')).not.toContain('# Where you are'); // the answer to `mode` has already described the place
    expect(outcomes(again)).toEqual(['Read ran']);
    expect(again.session).toBe(first.session);
    expect(await world.sessions()).toEqual([first.session]);
  });

  it('finds the session of a continued conversation', async () => {
    const first = await world.run([mode('diagnose'), done]);
    const other = await world.run([done]);
    const id = (run: Run) => /--resume (\S+)/.exec(run.stderr)?.[1] ?? '';
    const resumed = await world.run([done], { args: ['--resume', id(first)] });
    expect(resumed.session).toBe(first.session);
    const continued = await world.run([done], { args: ['--continue'] });
    expect(continued.session).toBe(first.session); // the conversation that was written last
    expect((await world.run([done], { args: ['--resume', id(other)] })).session).toBe(other.session);
    expect(await world.sessions()).toHaveLength(2);
    const eaten = await world.run([done], { own: ['--approve', 'execute', 'deploy'] });
    expect(eaten.code).toBe(2);
    expect(eaten.stderr).toContain('--approve execute,deploy');
    expect(eaten.requests).toEqual([]);
  });

  it('shows the model its place after a compaction', async () => {
    const first = await world.run([mode('diagnose'), { text: 'a first answer' }]);
    const compacted = await world.run([done, done], {
      own: ['--session', first.session],
      args: ['--continue'],
      prompt: '/compact',
    });
    expect(compacted.code, compacted.stdout).toBe(0);
    expect(compacted.stdout).toMatch(/"hook_name":"SessionStart:compact"[^\n]*in mode diagnose/);
    const later = await world.run([done, done], { own: ['--session', first.session], args: ['--continue'] });
    const texts = later.requests[0]?.texts.join('\n') ?? '';
    expect(texts).toContain('In the peripheral "explore", in mode diagnose');
    expect(texts.match(/# Where you are/g)).toHaveLength(1);
  });

  it('still asks the person in manual mode before each acting call that the gate allows', async () => {
    const write = call('Write', { file_path: world.path('src/b.js'), content: 'b\n' });
    const script = [...toEdit, write, bash('echo c > src/c.js'), call(own('read'), { path: 'src/c.js' }), done, done];
    const run = await world.run(script, { ...approved, permissionMode: 'manual' });
    expect(outcomes(run).slice(3)).toEqual(['Write refused', 'Bash refused', 'read refused']);
    expect([world.read('src/b.js'), world.read('src/c.js')]).toEqual([null, null]);
    expect(run.stderr).not.toContain('WARNING');
  });

  it('can plan, read and stop in plan mode without a question, although Claude Code refuses hops there', async () => {
    const change = call('Edit', { file_path: world.path('src/a.js'), old_string: 'one', new_string: 'two' });
    const writePlan = (_: string, texts: string) => {
      const [plan = ''] = /\/\S+\/plans\/\S+?\.md/.exec(texts) ?? [];
      return { calls: [{ name: 'Write', input: { file_path: plan, content: '# Plan\n' } }] };
    };
    const script: Step[] = [
      writePlan,
      call('Read', { file_path: world.path('src/a.js') }),
      bash('ls src'),
      toEdit[1]!,
      change,
      done,
      done,
    ];
    const run = await world.run(script, { ...approved, permissionMode: 'plan' });
    expect(outcomes(run)).toEqual(['Write ran', 'Read ran', 'Bash ran', 'hop refused', 'Edit refused']);
    expect(run.stderr).not.toContain('WARNING');
    expect(run.code, run.stderr).toBe(0);
    expect(run.requests.length).toBeLessThanOrEqual(script.length);
    expect(world.read('src/a.js')).toBe('one\n');
  });

  it('leaves an approval to the operator, who answers elsewhere', async () => {
    const ask = { name: own('mode'), input: { to: 'execute', reason: 'the cause is known' } };
    const answer = async (results: string) => {
      const [, id = ''] = /hopgate approve (\w+)/.exec(results) ?? [];
      const answered = await world.hopgate('approve', id, '--yes', '--by', 'mary');
      expect(answered.code, answered.stderr).toBe(0);
      return { calls: [ask] };
    };
    const run = await world.run([mode('diagnose'), { calls: [ask] }, answer, done, done]);
    expect(outcomes(run)).toEqual(['mode ran', 'mode refused', 'mode ran']);
    expect(run.stderr).toContain('mode execute');
    expect(await world.evidence(run.session)).toContain('approval');
  });

  it('passes on the client’s exit code, and does not offer to continue an unknown conversation', async () => {
    const run = await world.run([done], { args: ['--resume', '01234567-89ab-4def-8123-456789abcdef'] });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('No conversation found');
    expect(run.stderr).not.toContain('--resume');
  });
});

describe.skipIf(!CLAUDE_BIN)('a sub-agent of Claude Code', () => {
  const start = {
    name: 'Agent',
    input: { description: 'sub', prompt: 'SUB-MARK do it', subagent_type: 'general-purpose', run_in_background: false },
  };

  it('works in its own session with its parent’s permissions only', async () => {
    const run = await world.run({
      main: [mode('diagnose'), { calls: [start] }, done, done],
      'SUB-MARK': [
        call('Read', { file_path: world.path('src/a.js') }),
        call('Write', { file_path: world.path('new.txt'), content: 'x' }),
        hop('edit', 'hop-edit'),
        call(own('write'), { path: 'src/new.js', content: 'x' }),
        call(own('grep'), { pattern: 'one' }),
        bash('echo x > src/new.js; ls src'),
        { text: 'I leave explore now.' },
      ],
    });
    const sub = run.requests.filter(({ thread }) => thread === 'SUB-MARK');
    expect(outcomes({ ...run, results: sub.flatMap(({ results }) => results) })).toEqual([
      'Read ran',
      'Write refused',
      'hop refused',
      'write refused',
      'grep ran',
      'Bash ran',
    ]);
    expect(world.read('new.txt')).toBeNull();
    expect(world.read('src/new.js')).toBeNull();
    expect(await world.sessions()).toHaveLength(2);
    const child = (await world.sessions()).find((id) => id !== run.session) ?? '';
    expect(await world.evidence(child)).toEqual(
      expect.arrayContaining(['step read ok, read src/a.js', 'denial tool-not-allowed', 'session-closed']),
    );
    // The sub-agent's calls over its parent's connection belong to the sub-agent's session.
    expect((await world.evidence(child)).join('; ')).toContain('step grep ok');
    expect((await world.evidence(run.session)).join('; ')).not.toContain('grep');
    const { stdout } = await world.hopgate('verify', child, '--inhabited');
    for (const demand of ['P-1', 'P-2', 'P-3', 'P-4', 'P-6']) expect(stdout).toMatch(new RegExp(`${demand} .* holds`));
    for (const id of await world.sessions()) expect((await world.hopgate('verify', id)).code, id).toBe(0);
  });

  it('cannot write outside its parent’s scope', async () => {
    const run = await world.run(
      {
        main: [...toEdit, { calls: [start] }, done, done],
        'SUB-MARK': [
          call('Write', { file_path: world.path('package.json'), content: '{}' }),
          call('Write', { file_path: world.path('src/sub.js'), content: 'sub\n' }),
          { text: 'sub done' },
        ],
      },
      approved,
    );
    expect(world.read('package.json'), run.stderr).toBeNull();
    expect(world.read('src/sub.js')).toBe('sub\n');
  });
});

describe.skipIf(!CLAUDE_BIN)('the gate stays closed', () => {
  const write = () => call('Write', { file_path: world.path('new.txt'), content: 'x' });
  const launcher = () => join(world.folder, 'state', 'hopgate', 'bin', 'hook');

  it('when the daemon is killed during a conversation', async () => {
    const kill = async (): Promise<Exclude<Step, (results: string, messages: string) => unknown>> => {
      const { stdout } = await world.hopgate('daemon', 'status', '--json');
      const { pid } = JSON.parse(stdout) as { pid?: number };
      expect(pid, stdout).toBeTypeOf('number');
      process.kill(pid ?? 0, 'SIGKILL');
      return { calls: [{ name: 'Write', input: { file_path: world.path('new.txt'), content: 'x' } }] };
    };
    const run = await world.run([
      mode('diagnose'),
      kill,
      call('Read', { file_path: world.path('src/a.js') }),
      bash('ls src'),
      mode('execute'),
      done,
      done,
    ]);
    expect(world.read('new.txt')).toBeNull();
    expect(outcomes(run)).toEqual(['mode ran', 'Write refused', 'Read ran', 'Bash ran', 'mode refused']);
    expect((await world.hopgate('verify', run.session)).code).toBe(0);
  });

  const broken: readonly (readonly [string, (file: string) => void])[] = [
    ['crashes', (file) => writeFileSync(file, '#!/bin/sh\nexit 1\n')],
    ['is not there', (file) => rmSync(file)],
    ['talks nonsense', (file) => writeFileSync(file, '#!/bin/sh\necho "all is well"\n')],
    [
      'stops in the middle of its answer',
      (file) => writeFileSync(file, `#!/bin/sh\nprintf '{"hookSpecificOutput":{"hookEventName":"PreTool'\n`),
    ],
    ['says nothing', (file) => writeFileSync(file, '#!/bin/sh\nexit 0\n')],
    ['refuses without a word', (file) => writeFileSync(file, '#!/bin/sh\nexit 2\n')],
    ['never answers', (file) => writeFileSync(file, '#!/bin/sh\nexec sleep 60\n')],
    [
      'answers another event',
      (file) => writeFileSync(file, `#!/bin/sh\nprintf '{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}'\n`),
    ],
  ];
  it.each(broken)('when the hook %s', async (_, breakIt) => {
    const breaking = () => {
      breakIt(launcher());
      if (existsSync(launcher())) chmodSync(launcher(), 0o755);
      return { calls: [{ name: 'Write', input: { file_path: world.path('src/new.js'), content: 'x' } }] };
    };
    const run = await world.run([...toEdit, breaking, done, done], approved);
    expect(outcomes(run).at(-1)).toBe('Write refused');
    expect(world.read('src/new.js')).toBeNull();
  });

  it('when the agent tries to disable the hooks', async () => {
    const off = '{"disableAllHooks":true}';
    const run = await world.run(
      [
        ...toEdit,
        call('Write', { file_path: world.path('.claude/settings.local.json'), content: off }),
        call('Write', { file_path: join(world.home, '.claude/settings.json'), content: off }),
        call('Write', { file_path: launcher(), content: 'exit 0' }),
        bash(`mkdir -p .claude; echo '${off}' > .claude/settings.local.json; echo x > ${launcher()}; true`),
        bash('sleep 2'),
        write(),
        done,
        done,
      ],
      approved,
    );
    expect(outcomes(run).slice(3)).toEqual([
      'Write refused',
      'Write refused',
      'Write refused',
      'Bash ran',
      'Bash ran',
      'Write refused',
    ]);
    expect(world.read('.claude/settings.local.json')).toBeNull();
    expect(existsSync(join(world.home, '.claude/settings.json'))).toBe(false);
    expect(readFileSync(launcher(), 'utf8')).toContain('hopgate');
    expect(world.read('new.txt')).toBeNull();
  });

  it('when another program disables the hooks during a conversation', async () => {
    const switchOff = async () => {
      for (const folder of [world.root, world.home]) {
        mkdirSync(join(folder, '.claude'), { recursive: true });
        for (const file of ['settings.json', 'settings.local.json'])
          writeFileSync(join(folder, '.claude', file), '{"disableAllHooks":true}');
      }
      await sleep(2500); // the client reads its settings from time to time
      return { calls: [{ name: 'Write', input: { file_path: world.path('new.txt'), content: 'x' } }] };
    };
    const run = await world.run([switchOff, done, done]);
    expect(outcomes(run)).toEqual(['Write refused']);
    expect(world.read('new.txt')).toBeNull();
  });

  it.each([
    ['another root', { HOPGATE_ROOT: '/tmp', CLAUDE_PROJECT_DIR: '/tmp' }],
    ['no session', { HOPGATE_SESSION: '' }],
    ['another state folder', { XDG_STATE_HOME: '/nowhere', HOME: '/nowhere', HOPGATE_DAEMON: 'off' }],
    ['a program around every command', { CLAUDE_CODE_SHELL_PREFIX: '/bin/true' }],
    ['hooks and plugins switched off', { CLAUDE_CODE_SIMPLE: '1', CLAUDE_CODE_SAFE_MODE: '1' }],
    ['code for every shell', { BASH_ENV: '/bin/true', NODE_OPTIONS: '--require /nowhere' }],
  ])('in a clone whose settings bring variables: %s', async (_, env) => {
    world.write('.claude/settings.json', JSON.stringify({ env }));
    const read = call('Read', { file_path: world.path('src/a.js') });
    const run = await world.run([write(), mode('diagnose'), read, done, done]);
    expect(outcomes(run)).toEqual(['Write refused', 'mode ran', 'Read ran']);
    expect(world.read('new.txt')).toBeNull();
    expect(run.code, run.stderr).toBe(0);
  });

  it('in a clone whose settings put a shell on the PATH', async () => {
    world.write('bin/sh', '#!/bin/dash\nexit 0\n');
    chmodSync(world.path('bin/sh'), 0o755);
    world.write('.claude/settings.json', JSON.stringify({ env: { PATH: `${world.path('bin')}:/usr/bin:/bin` } }));
    const run = await world.run([write(), done]);
    expect(outcomes(run)).toEqual(['Write refused']);
    expect(world.read('new.txt')).toBeNull();
  });

  it.each([
    ['hooks', { disableAllHooks: true }],
    ['the plugin', { enabledPlugins: { 'hopgate@inline': false, hopgate: false } }],
  ])('in a clone whose settings disable %s', async (_, settings) => {
    for (const file of ['settings.json', 'settings.local.json'])
      world.write(`.claude/${file}`, JSON.stringify(settings));
    const run = await world.run([write(), done]);
    expect(outcomes(run)).toEqual(['Write refused']);
    expect(world.read('new.txt')).toBeNull();
    expect(run.code).toBe(0);
  });
});

describe.skipIf(!CLAUDE_BIN)('hopgate install claude', () => {
  it('writes a plugin that Claude Code accepts', async () => {
    await world.hopgate('install', 'claude');
    const plugin = join(world.home, '.claude/skills/hopgate');
    const checked = await runToEnd([CLAUDE_BIN ?? '', 'plugin', 'validate', '--strict', plugin], world.root, world.env);
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    expect(checked.stdout).toContain('Validation passed');
  });

  it.each(['user', 'project'])('puts each conversation into a session (--scope %s)', async (scope) => {
    const off = { disableAllHooks: true, enabledPlugins: { 'hopgate@skills-dir': false } };
    if (scope === 'project') world.write('.claude/settings.json', JSON.stringify(off));
    expect((await world.hopgate('install', 'claude', '--scope', scope)).code).toBe(0);
    const write = call('Write', { file_path: world.path('new.txt'), content: 'x' });
    const run = await world.run(
      [write, mode('diagnose'), call('Read', { file_path: world.path('src/a.js') }), done, done],
      { bare: true },
    );
    expect(outcomes(run)).toEqual(['Write refused', 'mode ran', 'Read ran']);
    expect(world.read('new.txt')).toBeNull();
    const [session = '', ...more] = await world.sessions();
    expect(more).toEqual([]);
    expect((await world.hopgate('verify', session)).code).toBe(0);
    await world.hopgate('uninstall', 'claude', '--scope', scope);
    const free = await world.run([write, done], { bare: true });
    expect(outcomes(free)).toEqual(['Write ran']);
  });

  it.each(['user', 'project'])('protects a folder below the root (--scope %s)', async (scope) => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    await world.hopgate('trust', '--yes');
    await world.hopgate('install', 'claude', '--scope', scope);
    const writes = ['new.txt', 'src/new.txt'].map((path) =>
      call('Write', { file_path: world.path(path), content: 'x' }),
    );
    const read = call('Read', { file_path: world.path('README.md') });
    const run = await world.run([...writes, mode('diagnose'), read, done, done], { bare: true, folder: 'src' });
    expect([world.read('new.txt'), world.read('src/new.txt')]).toEqual([null, null]);
    if (scope === 'project') {
      expect(run.requests).toEqual([]);
      expect(run.stdout).toContain('start Claude Code there, or with');
    } else {
      expect(outcomes(run)).toEqual(['Write refused', 'Write refused', 'mode ran', 'Read ran']);
      expect(await world.sessions()).toHaveLength(1);
    }
  });
});

describe.skipIf(!CLAUDE_BIN)('hopgate claude in a folder below the root', () => {
  it('uses the operator’s configuration of the repository', async () => {
    world.write('hopgate.yaml', 'scopes: { edit: [docs/] }\n');
    await world.hopgate('trust', '--yes');
    const write = (path: string) => call('Write', { file_path: world.path(path), content: 'x' });
    const run = await world.run([...toEdit, write('src/new.txt'), write('docs/new.txt'), done, done], {
      ...approved,
      folder: 'src',
    });
    expect(outcomes(run).slice(3)).toEqual(['Write refused', 'Write ran']);
    expect([world.read('src/new.txt'), world.read('docs/new.txt')]).toEqual([null, 'x']);
    expect((await world.hopgate('verify', run.session)).code).toBe(0);
  });
});
