import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Machine, machine } from '../../cli/run.ts';
import { isDeep } from '../../depth.ts';

let on: Machine;
beforeEach(() => {
  on = machine();
});

const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
const hopgate = (...args: string[]) => on.run(...args);
const tree = (path: string): readonly string[] =>
  existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1))
        .sort()
    : [];

describe.each([
  ['user', () => join(on.env['HOME'] ?? '', '.claude'), 'settings.json'],
  ['project', () => join(on.root, '.claude'), 'settings.local.json'],
] as const)('hopgate install claude --scope %s', (scope, config, settings) => {
  it('writes the plugin and enables hooks, and a second run changes nothing', async () => {
    const first = await hopgate('install', 'claude', '--scope', scope);
    expect(first.code, first.err).toBe(0);
    expect(tree(config())).toEqual([
      settings,
      'skills/hopgate/.claude-plugin/plugin.json',
      'skills/hopgate/.mcp.json',
      'skills/hopgate/README.md',
      'skills/hopgate/commands/hop.md',
      'skills/hopgate/commands/mode.md',
      'skills/hopgate/commands/par.md',
      'skills/hopgate/commands/peripheral.md',
      'skills/hopgate/hooks/ask.sh',
      ...(scope === 'project' ? ['skills/hopgate/hooks/here.sh'] : []),
      'skills/hopgate/hooks/hooks.json',
    ]);
    expect(JSON.parse(readFileSync(join(config(), settings), 'utf8'))).toMatchObject({ disableAllHooks: false });
    const again = await hopgate('install', 'claude', '--scope', scope);
    expect(again.out).toContain('Nothing to do');
  });

  it('keeps existing settings, shows its changes, and removes only what it added', async () => {
    const file = join(config(), settings);
    const before =
      '{\n    "permissions": { "allow": ["Bash(ls)"] },\n    "disableAllHooks": true,\n    "model": "opus"\n}\n';
    put(file, before);
    put(join(config(), 'skills/mine/SKILL.md'), 'mine');
    const ran = await hopgate('install', 'claude', '--scope', scope);
    put(join(config(), 'skills/hopgate/hooks/left-over.sh'), 'of an older version');
    await hopgate('install', 'claude', '--scope', scope);
    expect(ran.out).toContain('-    "disableAllHooks": true');
    expect(ran.out).toContain('+    "disableAllHooks": false');
    expect(readFileSync(file, 'utf8')).toContain(',\n    "disableAllHooks": false,\n    "model": "opus"');
    expect(tree(config())).not.toContain('skills/hopgate/hooks/left-over.sh');
    await hopgate('uninstall', 'claude', '--scope', scope);
    expect(tree(config())).toEqual([settings, 'skills/mine/SKILL.md']);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await hopgate('uninstall', 'claude', '--scope', scope)).out).toContain('Nothing to do');
  });

  it('allows hopgate’s runner, and removes that again from settings that were changed meanwhile', async () => {
    const file = join(config(), settings);
    put(file, '{"permissions":{"allow":["Bash(ls)"],"deny":["Bash(rm:*)"]}}');
    await hopgate('install', 'claude', '--scope', scope);
    const installed = JSON.parse(readFileSync(file, 'utf8'));
    const runner = `Bash('${join(on.env['XDG_STATE_HOME'] ?? '', 'hopgate/bin/hook')}' run *)`;
    expect(installed.permissions).toEqual({ allow: ['Bash(ls)', runner, 'Bash(exit)'], deny: ['Bash(rm:*)'] });
    put(file, JSON.stringify({ ...installed, permissions: { allow: [runner, 'Bash(exit)'] }, model: 'opus' }));
    await hopgate('uninstall', 'claude', '--scope', scope);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ model: 'opus' });
  });

  it('enables its plugin, and does not change the user’s other plugins', async () => {
    const file = join(config(), settings);
    put(file, '{"enabledPlugins":{"hopgate@skills-dir":false,"mine@market":true}}');
    await hopgate('install', 'claude', '--scope', scope);
    const installed = JSON.parse(readFileSync(file, 'utf8'));
    expect(installed.enabledPlugins).toEqual({ 'hopgate@skills-dir': true, 'mine@market': true });
    put(file, JSON.stringify({ ...installed, model: 'opus' }));
    await hopgate('uninstall', 'claude', '--scope', scope);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ enabledPlugins: { 'mine@market': true }, model: 'opus' });
  });

  it.each([
    '{"permissions":{}}',
    '{"enabledPlugins":{"hopgate@skills-dir":true}}',
    '{"enabledPlugins":[]}',
    '{ "permissions" : { "allow": [ ] } }\n',
    '\n',
    '{"permissions":7}',
    '{}',
    '{"disableAllHooks":true}',
    '{"disableAllHooks":false,"a":1}',
    '{\r\n\t"disableAllHooks": "no"\r\n}',
  ])('restores settings byte for byte: %j', async (before) => {
    const file = join(config(), settings);
    put(file, before);
    for (let times = 0; times < 2; times++) await hopgate('install', 'claude', '--scope', scope);
    expect(readFileSync(file, 'utf8')).not.toBe(before);
    await hopgate('uninstall', 'claude', '--scope', scope);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it.runIf(isDeep).each([
    ['{"disableAllHooks":true}', { disableAllHooks: true, model: 'opus' }],
    ['{}', { model: 'opus' }],
    [null, { model: 'opus' }],
  ])('restores the switch of the hooks in settings that were changed meanwhile: %j', async (before, after) => {
    const file = join(config(), settings);
    if (before !== null) put(file, before);
    await hopgate('install', 'claude', '--scope', scope);
    put(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), model: 'opus' }));
    await hopgate('uninstall', 'claude', '--scope', scope);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(after);
  });

  it.runIf(isDeep || scope === 'user')(
    'runs the user’s own status line behind hopgate’s, and restores it although other settings changed',
    async () => {
      const file = join(config(), settings);
      const own = { type: 'command', command: `printf '%s' "it's \\n mine"`, padding: 2 };
      put(file, JSON.stringify({ statusLine: own }));
      const installed = await hopgate('install', 'claude', '--scope', scope);
      expect(installed.code, installed.err).toBe(0);
      const written = JSON.parse(readFileSync(file, 'utf8'));
      expect(written.statusLine).toMatchObject({ type: 'command', padding: 2 });
      const ran = spawnSync(written.statusLine.command, { shell: true, encoding: 'utf8', input: '{', env: on.env });
      expect(ran.stdout).toBe("it's \\n mine\n");
      put(file, JSON.stringify({ ...written, model: 'opus' }));
      await hopgate('uninstall', 'claude', '--scope', scope);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ statusLine: own, model: 'opus' });
    },
  );

  it('does not change a skill of the user with the plugin’s name', async () => {
    const skill = join(config(), 'skills/hopgate/SKILL.md');
    put(skill, 'mine');
    expect(await hopgate('install', 'claude', '--scope', scope)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/skills\/hopgate contains files that hopgate did not write/),
    });
    await hopgate('uninstall', 'claude', '--scope', scope);
    expect(tree(config())).toEqual(['skills/hopgate/SKILL.md']);
  });

  it('leaves no trace of files that did not exist before', async () => {
    await hopgate('install', 'claude', '--scope', scope);
    await hopgate('uninstall', 'claude', '--scope', scope);
    expect(existsSync(config())).toBe(false);
    expect(existsSync(dirname(config()))).toBe(true);
  });

  it('writes all files or none', async () => {
    put(join(config(), 'skills'), 'a file where a folder has to be');
    put(join(config(), settings), '{}');
    const ran = await hopgate('install', 'claude', '--scope', scope);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/cannot be written \(\w+\)[\s\S]*Nothing was changed/);
    expect(tree(config())).toEqual([settings, 'skills']);
  });

  it('writes nothing with --dry-run, and shows what it would write', async () => {
    const ran = await hopgate('install', 'claude', '--scope', scope, '--dry-run');
    expect(ran.out).toContain('hooks.json');
    expect(existsSync(config())).toBe(false);
  });

  it('refuses settings that are not JSON and changes nothing', async () => {
    put(join(config(), settings), '{ "a": 1, // mine\n}');
    const ran = await hopgate('install', 'claude', '--scope', scope);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('not readable as JSON');
    expect(tree(config())).toEqual([settings]);
    expect(readFileSync(join(config(), settings), 'utf8')).toBe('{ "a": 1, // mine\n}');
  });
});

it('an install restores every file if a later file cannot be written', async () => {
  const settings = join(on.env['HOME'] ?? '', '.claude/settings.json');
  mkdirSync(dirname(settings), { recursive: true });
  symlinkSync(join(on.root, 'gone/settings.json'), settings); // to a folder that does not exist
  const ran = await hopgate('install', 'claude');
  expect(ran.err).toMatch(/settings.json cannot be written \(ENOENT\)/);
  expect(existsSync(join(dirname(settings), 'skills'))).toBe(false);
});

describe('hopgate install claude --scope project below the root', () => {
  const script = () => join(on.root, '.claude/skills/hopgate/hooks/here.sh');
  const settings = () => join(on.root, '.claude/settings.local.json');
  const guard = (folder: string) =>
    spawnSync('sh', [script()], { env: { CLAUDE_PROJECT_DIR: folder }, encoding: 'utf8' });

  it('refuses every call if Claude Code reads its settings but not its plugin', async () => {
    await hopgate('install', 'claude', '--scope', 'project');
    const { hooks } = JSON.parse(readFileSync(settings(), 'utf8'));
    for (const event of ['UserPromptSubmit', 'PreToolUse'])
      expect(hooks[event]).toEqual([
        { hooks: [{ type: 'command', command: `/bin/sh '${script()}'`, timeout: 30, onFailure: 'block' }] },
      ]);
    expect(guard(on.root)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(guard(join(on.root, 'src'))).toMatchObject({ status: 2, stderr: expect.stringContaining('hopgate claude') });
  });

  it.each([
    '{"hooks":{"PreToolUse":[{"hooks":[]}],"Stop":[]},"a":1}',
    '{\r\n  "a": {"hooks": 1}\r\n}\r\n',
    '{"hooks":7,"b":2}',
  ])('keeps existing hooks, and restores them: %j', async (before) => {
    put(settings(), before);
    await hopgate('install', 'claude', '--scope', 'project');
    const installed = readFileSync(settings(), 'utf8');
    expect((await hopgate('install', 'claude', '--scope', 'project')).out).toContain('Nothing to do');
    expect(installed).not.toBe(before);
    await hopgate('uninstall', 'claude', '--scope', 'project');
    expect(readFileSync(settings(), 'utf8')).toBe(before);
  });
});

it('an unknown client program is answered with the known ones', async () => {
  const ran = await hopgate('install', 'emacs');
  expect(ran.code).toBe(2);
  expect(ran.err).toContain('claude');
});
