import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { applyInstall, withoutEqualChanges } from '../../../src/cli/install/apply-install.ts';
import { addToCodexConfig, removeFromCodexConfig } from '../../../src/cli/install/codex-config-toml.ts';
import { codexInstaller } from '../../../src/cli/install/codex-installer.ts';
import type { InstallPlan, InstallScope, InstallTarget } from '../../../src/cli/install/installer.ts';
import type { Io } from '../../../src/cli/io.ts';
import { isDeep } from '../../depth.ts';
import { nameServer, SERVER } from '../../server-name.ts';
import { temporaryTree } from '../../session/sessions.ts';

/** Answers as Codex's app server does about hooks that are given on the command line. */
const APP_SERVER = `#!${process.execPath}
const hooks = process.argv.filter((word) => /^hooks\\.[A-Z]/.test(word)).map((word) => {
  const event = word.slice(6, word.indexOf('=')).replace(/(?!^)[A-Z]/g, (letter) => '_' + letter).toLowerCase();
  const command = JSON.parse(/"command" = ("(?:[^"\\\\]|\\\\.)*")/.exec(word)[1]);
  return { key: '/<session-flags>/config.toml:' + event + ':0:0', eventName: event, command, source: 'sessionFlags', enabled: true, currentHash: 'sha256:' + event, trustStatus: 'untrusted' };
});
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  if (id === 1) console.log(JSON.stringify({ id, result: { userAgent: 'hopgate/0.169.0 (x)', codexHome: '/' } }));
  if (id === 2) console.log(JSON.stringify({ id, result: { data: [{ hooks, warnings: [], errors: [] }] } }));
});
`;

function place(files: { readonly [path: string]: string } = {}) {
  const root = temporaryTree({
    codex: APP_SERVER,
    'package.json': '{"type":"commonjs"}',
    'home/.codex/.keep': '',
    'repo/.keep': '',
    ...files,
  });
  nameServer(join(root, 'state'));
  const codex = join(root, 'codex');
  chmodSync(codex, 0o755);
  const io: Io = {
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    stdin: new PassThrough(),
    isTty: false,
    env: {
      HOME: join(root, 'home'),
      CODEX_HOME: join(root, 'home/.codex'),
      XDG_STATE_HOME: join(root, 'state'),
      PATH: process.env['PATH'],
      HOPGATE_HOOK_CLIENT: 'node',
    },
    cwd: root,
    color: false,
    json: false,
    exitCode: 0,
  };
  const at = (path: string) => join(root, path);
  const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : null);
  const where = (scope: InstallScope, program = codex): InstallTarget => ({
    scope,
    root: at('repo'),
    io: { ...io, env: { ...io.env, CODEX_BIN: program } },
  });
  return { at, read, where };
}

const carryOut = ({ changes, keep }: InstallPlan): void => applyInstall(changes, keep);

const HOOKS = 'home/.codex/hooks.json';
const CONFIG = 'home/.codex/config.toml';
const theirs = { hooks: [{ type: 'command', command: 'mine' }] };

describe('an installation for the user', () => {
  test('adds hooks for every event, the server and the trust; repeating it changes nothing; uninstalling removes all', async () => {
    const { at, read, where } = place();
    carryOut(await codexInstaller.install(where('user')));
    const { hooks } = JSON.parse(read(HOOKS) ?? '') as {
      hooks: { [event: string]: { hooks: { command: string }[] }[] };
    };
    expect(hooks['PreToolUse']?.[0]?.hooks[0]?.command).toContain("'codex'");
    const config = parse(read(CONFIG) ?? '') as never as { mcp_servers: object; hooks: { state: object } };
    expect(config).toMatchObject({
      features: { mcp_tool_list_changed: true },
      mcp_servers: { [SERVER]: { command: process.execPath, default_tools_approval_mode: 'approve' } },
      hooks: { state: { [`${at(HOOKS)}:pre_tool_use:0:0`]: { trusted_hash: 'sha256:pre_tool_use' } } },
    });
    expect(Object.keys(config.hooks.state)).toHaveLength(7);
    expect(withoutEqualChanges((await codexInstaller.install(where('user'))).changes)).toEqual([]);
    carryOut(await codexInstaller.uninstall(where('user')));
    expect([read(HOOKS), read(CONFIG)]).toEqual([null, null]);
  });

  test('keeps existing settings byte for byte and appends its own', async () => {
    const hooks = `${JSON.stringify({ description: 'd', hooks: { PreToolUse: [theirs, theirs] } }, null, '\t')}\n`;
    const config = `# my own\nmodel = "m" # the best\n\n[features]\n# careful\nweb = true\n\n[mcp_servers.other]\ncommand = "x"`;
    const { at, read, where } = place({ [HOOKS]: hooks, [CONFIG]: config });
    carryOut(await codexInstaller.install(where('user')));
    expect(JSON.parse(read(HOOKS) ?? '')).toMatchObject({
      description: 'd',
      hooks: { PreToolUse: [theirs, theirs, expect.anything()] },
    });
    const installed = read(CONFIG) ?? '';
    expect(installed).toContain('# careful');
    expect(parse(installed)).toMatchObject({
      features: { web: true, mcp_tool_list_changed: true },
      hooks: { state: { [`${at(HOOKS)}:pre_tool_use:2:0`]: {}, [`${at(HOOKS)}:stop:0:0`]: {} } },
    });
    expect(withoutEqualChanges((await codexInstaller.install(where('user'))).changes)).toEqual([]);
    carryOut(await codexInstaller.uninstall(where('user')));
    expect(read(CONFIG)).toBe(config);
    expect(read(HOOKS)).toBe(hooks);
  });

  test.each([
    ['hooks.json', HOOKS, '{"hooks":'],
    ['hooks.json that is a list', HOOKS, '[]'],
    ['hooks that are none', HOOKS, '{"hooks":{"Stop":{}}}'],
    ['config.toml', CONFIG, 'model = '],
    ['a server of the same name', CONFIG, `[mcp_servers.${SERVER}]\ncommand = "other"\n`],
    ['features that nothing can be added to', CONFIG, 'features = { a = true }\n'],
  ])('refuses %s and changes nothing', async (_, path, text) => {
    const { read, where } = place({ [path]: text });
    await expect(codexInstaller.install(where('user'))).rejects.toMatchObject({
      code: expect.stringMatching(/^(malformed|taken)$/),
      remedy: expect.any(String),
    });
    expect(read(path)).toBe(text);
  });

  test('keeps a feature disabled that the user disabled', async () => {
    const { read, where } = place({ [CONFIG]: '[features]\nmcp_tool_list_changed = false\n' });
    carryOut(await codexInstaller.install(where('user')));
    expect(parse(read(CONFIG) ?? '')).toMatchObject({ features: { mcp_tool_list_changed: false } });
  });

  test('says that the hooks must be trusted by hand if Codex cannot be asked', async () => {
    const { read, where } = place();
    const plan = await codexInstaller.install(where('user', '/no/such/codex'));
    expect(plan.notes.join('\n')).toContain('/hooks');
    carryOut(plan);
    expect(read(CONFIG)).not.toContain('trusted_hash');
  });
});

test.runIf(isDeep)(
  'an installation for a repository writes there, and only the trust to the user’s config',
  async () => {
    const { at, read, where } = place({ [CONFIG]: 'model = "m"\n' });
    carryOut(await codexInstaller.install(where('project')));
    expect(read('repo/.codex/hooks.json')).toContain('PreToolUse');
    expect(parse(read('repo/.codex/config.toml') ?? '')).toMatchObject({ mcp_servers: { [SERVER]: {} } });
    expect(parse(read(CONFIG) ?? '')).toMatchObject({
      model: 'm',
      hooks: { state: { [`${at('repo/.codex/hooks.json')}:stop:0:0`]: {} } },
    });
    expect(read(CONFIG)).not.toContain('mcp_servers');
    carryOut(await codexInstaller.install(where('user')));
    carryOut(await codexInstaller.uninstall(where('project')));
    expect([read('repo/.codex/hooks.json'), read('repo/.codex/config.toml')]).toEqual([null, null]);
    expect(read(CONFIG)).toContain('mcp_servers');
    carryOut(await codexInstaller.uninstall(where('user')));
    expect(read(CONFIG)).toBe('model = "m"\n');
  },
);

describe('any config.toml', () => {
  const comment = fc.stringMatching(/^# [a-z ]{0,12}$/);
  const pair = fc
    .tuple(
      fc.stringMatching(/^k[a-z]{1,5}$/),
      fc.constantFrom('1', '"x"', '[1, 2]', '{ a = 1 }', '"""\n# >>> hopgate\n"""'),
    )
    .map(([key, value]) => [key, `${key} = ${value}`] as const);
  const section = fc.record({
    name: fc.stringMatching(/^t[a-z]{1,5}(?:\.[a-z]{1,4})?$/),
    comments: fc.array(comment, { maxLength: 2 }),
    pairs: fc.uniqueArray(pair, { selector: ([key]) => key, maxLength: 3 }),
  });
  const document = fc
    .record({
      top: fc.uniqueArray(pair, { selector: ([key]) => key, maxLength: 3 }),
      sections: fc.uniqueArray(section, { selector: ({ name }) => name.split('.')[0] ?? '', maxLength: 3 }),
      features: fc.boolean(),
      end: fc.constantFrom('', '\n', '\n\n', '\n# end', '\r\n'),
    })
    .map(({ top, sections, features, end }) => {
      const lines: string[] = top.map(([, line]) => line);
      for (const { name, comments, pairs } of sections)
        lines.push('', `[${name}]`, ...comments, ...pairs.map(([, line]) => line));
      if (features) lines.push('[features] # mine', 'kx = true');
      return lines.length === 0 ? '' : `${lines.join('\n')}${end}`;
    });
  const additions = {
    block: 'hopgate',
    features: ['f'],
    tables: [{ path: ['mcp_servers', 'hopgate'], values: { command: 'c' } }],
  };

  test('is unchanged after install and uninstall, and a second install adds nothing', () => {
    fc.assert(
      fc.property(document, (text) => {
        const once = addToCodexConfig('config.toml', text, additions);
        expect(addToCodexConfig('config.toml', once, additions)).toBe(once);
        expect(removeFromCodexConfig('config.toml', once, 'hopgate', ['f']) ?? '').toBe(text.trim() === '' ? '' : text);
        const { features = {}, mcp_servers, ...rest } = parse(once);
        const { f, ...others } = features as { [name: string]: unknown };
        const { features: before = {}, ...same } = parse(text);
        expect([f, others, rest, mcp_servers]).toEqual([true, before, same, { hopgate: { command: 'c' } }]);
      }),
    );
  });
});
