import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { CODEX_EVENTS, codexHooks } from '../../../src/adapters/codex/hook-config.ts';
import { hookOverrides, mcpOverrides, sandboxOverrides, trustOverride } from '../../../src/adapters/codex/overrides.ts';
import { threadOptions } from '../../../src/adapters/codex/thread-options.ts';
import { type TomlValue, tomlLiteral } from '../../../src/adapters/codex/toml.ts';
import { quoteShell } from '../../../src/base/text.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../../src/spec/load/load-project-config.ts';
import { fixtureSpecs } from '../../session/sessions.ts';

const { value } = fc.letrec<{ value: TomlValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 3 },
    ),
  ),
}));

const parsed = (overrides: readonly string[]) => parse(overrides.join('\n')) as { [key: string]: never };

test('what TOML reads of a value is the value', () => {
  fc.assert(
    fc.property(value, (given) => {
      expect(parse(`a = ${tomlLiteral(given)}`)['a']).toEqual(given);
    }),
  );
});

describe('the options of a thread', () => {
  const of = (peripheral: string | null, mode: 'discuss' | 'diagnose' | 'execute' | null = 'execute', scopes = {}) =>
    threadOptions(fixtureSpecs, { ...DEFAULT_PROJECT_CONFIG, scopes }, peripheral, '/repo', mode);

  test('only a peripheral that writes may write, and only its folders', () => {
    for (const peripheral of [null, 'explore', 'test', 'deploy', 'reflect', 'chat'])
      expect(of(peripheral)).toMatchObject({ sandboxMode: 'read-only', writableRoots: [] });
    expect(of('edit')).toMatchObject({
      sandboxMode: 'workspace-write',
      writableRoots: ['/repo/src', '/repo/docs', '/repo/scripts'],
    });
  });

  test('a mode that does not act writes nothing', () => {
    expect(of('edit', 'diagnose').sandboxMode).toBe('read-only');
    expect(of('edit', null).sandboxMode).toBe('workspace-write');
  });

  test('the repository’s own paths take the place of the spec’s', () => {
    expect(of('edit', 'execute', { edit: ['lib/', './a/b'] }).writableRoots).toEqual(['/repo/lib', '/repo/a/b']);
  });

  test('nobody is asked, nothing is reached, and no mask is read', () => {
    expect(of('edit')).toMatchObject({
      approvalPolicy: 'never',
      networkAccess: false,
      webSearch: 'disabled',
      deniedReads: DEFAULT_PROJECT_CONFIG.mask,
    });
  });
});

describe('the overrides', () => {
  test('the profile reads the root without its masks and writes the scope', () => {
    const options = {
      ...threadOptions(
        fixtureSpecs,
        { ...DEFAULT_PROJECT_CONFIG, mask: ['.env', 'secrets/', 'a/*.pem', '.env.!(a|*b)', '{x,y}.key', '!a/b.pem'] },
        'edit',
        '/re "po',
        'execute',
      ),
    };
    expect(parsed(sandboxOverrides(options, '/re "po'))).toEqual({
      default_permissions: 'hopgate',
      permissions: {
        hopgate: {
          filesystem: {
            ':minimal': 'read',
            glob_scan_max_depth: 8,
            '/re "po': {
              '.': 'read',
              src: 'write',
              docs: 'write',
              scripts: 'write',
              '**/.env': 'deny',
              '**/secrets': 'deny',
              'a/*.pem': 'deny',
              '**/.env.*': 'deny',
              '**/x.key': 'deny',
              '**/y.key': 'deny',
            },
          },
        },
      },
      approval_policy: 'never',
      web_search: 'disabled',
    });
  });

  test('whoever sits at the screen is asked what hopgate has to ask, and nothing else', () => {
    const options = threadOptions(fixtureSpecs, DEFAULT_PROJECT_CONFIG, 'edit', '/repo', 'execute');
    expect(parsed(sandboxOverrides(options, '/repo', true))).toMatchObject({
      approval_policy: {
        granular: {
          sandbox_approval: false,
          rules: false,
          request_permissions: false,
          skill_approval: false,
          mcp_elicitations: true,
        },
      },
    });
  });

  test('the server’s tools are approved, and followed as they change', () => {
    const { mcp_servers, features } = parsed(
      mcpOverrides({ command: 'node', args: ['a b'], env: { X: 'é' } }),
    ) as never as { mcp_servers: { hopgate: object }; features: object };
    expect(mcp_servers.hopgate).toMatchObject({
      command: 'node',
      args: ['a b'],
      env: { X: 'é' },
      required: true,
      default_tools_approval_mode: 'approve',
    });
    expect(features).toEqual({ mcp_tool_list_changed: true });
  });

  test('every event has a hook, for every tool', () => {
    const { hooks } = parsed(hookOverrides(codexHooks('hop'))) as never as { hooks: { [event: string]: object[] } };
    expect(Object.keys(hooks).sort()).toEqual([...CODEX_EVENTS].sort());
    for (const groups of Object.values(hooks))
      expect(groups).toEqual([{ hooks: [{ type: 'command', command: expect.any(String), timeout: 60 }] }]);
  });

  test('trust names each hook, and those that are not to run', () => {
    expect(parsed([trustOverride({}, ['k'])])).toEqual({ hooks: { state: { k: { enabled: false } } } });
    expect(parsed([trustOverride({ '/<session-flags>/config.toml:stop:0:0': 'sha256:1' })])).toEqual({
      hooks: { state: { '/<session-flags>/config.toml:stop:0:0': { trusted_hash: 'sha256:1' } } },
    });
  });
});

describe('the command of a hook fails closed', () => {
  const run = (command: string, event: 'PreToolUse' | 'SessionStart' | 'Stop' = 'PreToolUse') => {
    const [{ hooks: [hook] = [] } = { hooks: [] }] = codexHooks(command)[event];
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', hook?.command ?? ''], {
      input: '{}',
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };

  test.each([
    ['crashes', 'exit 1'],
    ['is not there', '/no/such/program'],
    ['is killed', `sh -c 'kill -9 $$'`],
    ['talks nonsense', `echo '{"hookSpecificOutput":'`],
    ['refuses without a word', 'exit 2'],
  ])('when it %s', (_, command) => {
    const { status, stderr } = run(command);
    expect(status).toBe(2);
    expect(stderr).toContain('hopgate');
  });

  test('silence lets through, a reason refuses, and its input reaches it', () => {
    expect(run('cat > /dev/null')).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(run(`sh -c 'read x; echo "no $x" >&2; exit 2'`)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^no /),
    });
  });

  test('but a fault keeps no agent from stopping', () => {
    for (const command of ['exit 1', 'exit 2', '/no/such/program']) expect(run(command, 'Stop').status).toBe(0);
  });

  test('what other events print is handed on', () => {
    expect(run(`echo 'it'"'"'s'`, 'SessionStart')).toEqual({ status: 0, stdout: "it's\n", stderr: '' });
  });

  test('a quoteShell word is one word of any shell', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{0,30}$/), (word) => {
        expect(spawnSync('/bin/sh', ['-c', `printf %s ${quoteShell(word)}`], { encoding: 'utf8' }).stdout).toBe(word);
      }),
      { numRuns: 30 },
    );
  });
});
