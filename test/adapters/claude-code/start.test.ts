import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { parseClaudeCommand } from '../../../src/cli/claude/claude-command.ts';
import { commitAll, folder, type Machine, machine, put } from '../../cli/run.ts';
import { isDeep } from '../../depth.ts';

let on: Machine;
let bin: string;
beforeEach(() => {
  bin = folder();
  on = machine({}, { CLAUDE_CODE_SIMPLE: '1', CLAUDE_CODE_SKIP_PLUGIN_MCP_SERVERS: '1', KEPT: 'yes' });
});

/** A double of the client: records how it was started, then follows its script. */
function fakeClaude(then: string): string {
  const file = join(bin, 'claude');
  writeFileSync(
    file,
    `#!/bin/sh\nfor a in "$@"; do printf '%s\\n' "$a"; done > ${bin}/args\nenv > ${bin}/env\n${then}\n`,
  );
  chmodSync(file, 0o755);
  return file;
}
const args = (): readonly string[] => readFileSync(join(bin, 'args'), 'utf8').split('\n').slice(0, -1);
const env = (): string => readFileSync(join(bin, 'env'), 'utf8');

describe('hopgate claude', () => {
  it('starts the client with the plugin, the settings that enable its hooks, a session, and the user’s arguments', async () => {
    const ran = await on.run('claude', '--claude', fakeClaude('exit 7'), '-p', 'fix it', '--model', 'opus');
    const [plugin, folder = '', flag, settings = '', ...rest] = args();
    expect([plugin, flag]).toEqual(['--plugin-dir', '--settings']);
    expect(JSON.parse(settings)).toMatchObject({ disableAllHooks: false, disableSkillShellExecution: true });
    expect(JSON.parse(settings).permissions.allow).toEqual([
      expect.stringMatching(/^Bash\('.*\/bin\/hook' run \*\)$/),
      'Bash(exit)',
    ]);
    expect(rest).toEqual(['-p', 'fix it', '--model', 'opus']);
    expect(existsSync(join(folder, 'hooks/hooks.json'))).toBe(true);
    expect(folder.startsWith(on.root)).toBe(false);
    expect(statSync(folder).mode & 0o077).toBe(0);
    const [, session] = /session (s-[\w-]+) in/.exec(ran.err) ?? [];
    expect(env()).toContain(`HOPGATE_SESSION=${session}`);
    expect(env()).toContain('KEPT=yes');
    expect(env()).not.toContain('CLAUDE_CODE_SIMPLE');
    expect(env()).not.toContain('CLAUDE_CODE_SKIP_PLUGIN');
    expect(ran.code).toBe(7);
    expect(ran.err).toContain(`hopgate verify ${session}`);
  });

  it.runIf(isDeep)('is the only client program in its session', async () => {
    const first = await on.run('claude', '--claude', fakeClaude('exit 0'));
    const [, session = ''] = /session (s-[\w-]+) in/.exec(first.err) ?? [];
    rmSync(join(bin, 'env'));
    const main = join(import.meta.dirname, '../../../src/cli/main.ts');
    const here = fakeClaude(`until [ -e ${bin}/go ]; do sleep 0.05; done`);
    const other = spawn(process.execPath, [main, 'claude', '--session', session, '--claude', here], {
      cwd: on.root,
      env: on.env as NodeJS.ProcessEnv,
      stdio: 'ignore',
    });
    const ended = once(other, 'exit');
    await vi.waitFor(() => expect(env()).toContain(session), { timeout: 500_000 });
    const second = await on.run('claude', '--session', session, '--claude', here);
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toMatch(/process \d+ already works in session s-[\s\S]*leave out --session/);
    writeFileSync(join(bin, 'go'), '');
    await ended;
    expect((await on.run('claude', '--session', session, '--claude', here)).err).toContain(`session ${session} in`);
  });

  it.runIf(isDeep)('works in the configured repository, whichever of its folders it was started in', async () => {
    put(on.root, { 'hopgate.yaml': '', 'src/a.js': '' });
    commitAll(on.root);
    const client = fakeClaude(`pwd > ${join(bin, 'where')}; exit 7`);
    const main = join(import.meta.dirname, '../../../src/cli/main.ts');
    const { stderr } = spawnSync(process.execPath, [main, 'claude', '--claude', client, '-p', 'x'], {
      cwd: join(on.root, 'src'),
      env: on.env as NodeJS.ProcessEnv,
      encoding: 'utf8',
    });
    expect(stderr).toContain(` in ${on.root}: `);
    expect(readFileSync(join(bin, 'where'), 'utf8').trim()).toBe(on.root);
    expect(env()).toContain(`HOPGATE_ROOT=${on.root}\n`);
  });

  it('fails with a message if no hook was called', async () => {
    const ran = await on.run('claude', '--claude', fakeClaude('exit 0'), '-p', 'x');
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("WARNING: none of hopgate's hooks was called");
  });

  it('fails on a terminal without hooks only if a conversation has begun', async () => {
    const left = await on.run('claude', '--claude', fakeClaude('exit 0'));
    expect(left.code).toBe(0);
    expect(left.err).not.toContain('WARNING');
    const conversation = `mkdir -p "$HOME/.claude/projects/p" && echo {} > "$HOME/.claude/projects/p/c.jsonl"`;
    const silent = await on.run('claude', '--claude', fakeClaude(conversation));
    expect(silent.code).toBe(1);
    expect(silent.err).toContain("WARNING: none of hopgate's hooks was called");
  });

  it('opens no session if --approve names no destination, mode or tool', async () => {
    const ran = await on.run('claude', '--approve', 'excute', '--claude', fakeClaude('exit 0'));
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('--approve: there is no destination, mode or tool "excute" to approve');
    expect(ran.err).toMatch(
      /Did you mean execute\? Destinations: .*deploy.*; modes: discuss, diagnose, execute; tools: install; or all/,
    );
    expect((await on.run('sessions')).out).not.toContain('s-');
  });

  it.runIf(isDeep)(
    'reports what hooks noticed in its conversations, and "hopgate sessions" reports it later',
    async () => {
      const event =
        '{"session_id":"c","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"TodoWrite","tool_use_id":"t","tool_input":{}}';
      const hook = `"$XDG_STATE_HOME/hopgate/bin/hook" claude-code`;
      const claude = fakeClaude(`printf '${event}' "$PWD" | HOPGATE_DAEMON=off ${hook} >${bin}/said 2>&1`);
      const ran = await on.run('claude', '--claude', claude);
      expect(readFileSync(join(bin, 'said'), 'utf8')).toContain('hopgate allowed it');
      expect(ran.err).toContain('WARNING: no SessionStart hook was answered');
      expect(ran.code).toBe(1);
      expect((await on.run('sessions')).err).toContain('no SessionStart hook was answered');
    },
  );

  it('continues a session', async () => {
    const first = await on.run('claude', '--claude', fakeClaude('exit 0'));
    const [, session = ''] = /session (s-[\w-]+) in/.exec(first.err) ?? [];
    const again = await on.run('claude', '--session', session, '--claude', fakeClaude('exit 0'), '--continue');
    expect(again.err).toContain(`session ${session} in`);
    expect(args().at(-1)).toBe('--continue');
    const unknown = await on.run('claude', '--session', 's-nothing', '--claude', fakeClaude('exit 0'));
    expect(unknown.err).toContain('there is no session');
  });

  it('writes one plugin folder, and repairs it if it was changed', async () => {
    const claude = fakeClaude('exit 0');
    await on.run('claude', '--claude', claude);
    const [, first = ''] = args();
    writeFileSync(join(first, 'hooks/hooks.json'), '{}');
    await on.run('claude', '--claude', claude);
    expect(args()[1]).toBe(first);
    expect(readFileSync(join(first, 'hooks/hooks.json'), 'utf8')).toContain('PreToolUse');
  });

  it('protects the variables that control the hooks from the settings of a repository', async () => {
    const loaders = { NODE_COMPILE_CACHE: '/elsewhere', OPENSSL_CONF: '/elsewhere' };
    const mine = JSON.stringify({ env: { HOPGATE_ROOT: '/elsewhere', MINE: 'yes', ...loaders } });
    await on.run('claude', '--claude', fakeClaude('exit 0'), '--settings', mine);
    const pinned = JSON.parse(args()[3] ?? '').env;
    expect(pinned).toMatchObject({
      HOPGATE_ROOT: on.root,
      HOPGATE_SESSION: expect.stringMatching(/^s-/),
      XDG_STATE_HOME: on.env['XDG_STATE_HOME'],
      CLAUDE_CODE_SIMPLE: '',
      CLAUDE_CODE_SHELL_PREFIX: '',
      BASH_ENV: '',
      LD_PRELOAD: '',
      NODE_COMPILE_CACHE: on.env['NODE_COMPILE_CACHE'] ?? process.env['NODE_COMPILE_CACHE'] ?? '',
      OPENSSL_CONF: '',
      MINE: 'yes',
    });
    expect(pinned).not.toHaveProperty('PATH');
  });

  it('merges the user’s --settings with its own, which take precedence', async () => {
    const mine = '{"disableAllHooks":true,"enabledPlugins":{"hopgate@inline":false,"mine@inline":true},"model":"opus"}';
    await on.run('claude', '--claude', fakeClaude('exit 0'), '--settings', mine);
    expect(args().filter((word) => word === '--settings')).toHaveLength(1);
    const enabledPlugins = { 'hopgate@inline': true, 'mine@inline': true };
    expect(JSON.parse(args()[3] ?? '')).toMatchObject({ disableAllHooks: false, enabledPlugins, model: 'opus' });
    const bad = await on.run('claude', '--claude', fakeClaude('exit 0'), '--settings', '{nonsense');
    expect(bad).toMatchObject({ code: 2 });
    expect(bad.err).toContain('--settings cannot be read');
  });

  it('says how to install the client if it is missing', async () => {
    const none = machine({}, { PATH: bin });
    const ran = await none.run('claude');
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('npm install -g @anthropic-ai/claude-code');
    const wrong = await on.run('claude', '--claude', join(bin, 'nothing-here'));
    expect(wrong.err).toContain('nothing-here');
    const folder = await none.run('claude', '--claude', bin);
    expect(folder.err).toContain('did not start');
    const nobody = machine();
    await nobody.run('claude', '--claude', join(bin, 'nothing-here'));
    expect((await nobody.run('sessions')).out).not.toContain('claude-code'); // no session was opened for the refused start
  });
});

describe('the arguments of "hopgate claude"', () => {
  const id = '4daaf63b-2e1f-442b-bd22-cc0acea78737';
  it.each([
    [['--continue'], 'last'],
    [['-p', 'go on', '-c'], 'last'],
    [['-pc', 'go on'], 'last'],
    [['--resume', id], { id }],
    [[`--resume=${id}`], { id }],
    [['-r', id, '-p', 'go on'], { id }],
    [['--resume'], null],
    [['-p', '--', '--continue'], null],
    [['-p', 'continue'], null],
  ])('determine the continued conversation: %j', (words, continued) => {
    expect(parseClaudeCommand(words).continued).toEqual(continued);
  });

  it('belong to hopgate up to the first one that it does not know', () => {
    expect(parseClaudeCommand(['--root', 'x', '--approve=execute,deploy', '-p', '--root', 'y'])).toMatchObject({
      root: 'x',
      approve: ['execute', 'deploy'],
      args: ['-p', '--root', 'y'],
    });
    expect(parseClaudeCommand(['--', '--root', 'y']).args).toEqual(['--root', 'y']);
    expect(() => parseClaudeCommand(['--session'])).toThrow('--session needs a value');
  });

  it.each([
    ['--bare'],
    ['--safe-mode'],
    ['-p', 'x', '--strict-mcp-config'],
    ['--worktree=x'],
    ['-wx'],
    ['-pcw', 'x'],
    ['--desktop'],
    ['--cloud'],
    ['mcp', 'list'],
    ['--bg'],
  ])('are refused if they would disable the session’s protection: %j', (...words) => {
    expect(() => parseClaudeCommand(words)).toThrow();
  });

  it('are not read after --', () => {
    expect(parseClaudeCommand(['-p', '--', '--bare']).args).toEqual(['-p', '--', '--bare']);
    for (const args of [['-dw'], ['-nw'], ['-pc', 'why'], ['-p', '-r', 'w']])
      expect(parseClaudeCommand(args).args).toEqual(args);
  });
});
