import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { CODEX_EVENTS, codexHooks } from '../../../src/adapters/codex/codex-hook-config.ts';
import { hookOverrides, mcpOverrides, sandboxOverrides, trustOverride } from '../../../src/adapters/codex/overrides.ts';
import { threadOptions } from '../../../src/adapters/codex/thread-options.ts';
import { printTomlLiteral, type TomlValue } from '../../../src/adapters/codex/toml.ts';
import { quoteShell } from '../../../src/base/text.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../../src/spec/resolve/parse-project-config.ts';
import { depth } from '../../depth.ts';
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

test('a printed TOML value reads back as the same value', () => {
  fc.assert(
    fc.property(value, (given) => {
      expect(parse(`a = ${printTomlLiteral(given)}`)['a']).toEqual(given);
    }),
  );
});

describe('the options of a Codex thread', () => {
  const of = (peripheral: string | null, mode: 'discuss' | 'diagnose' | 'execute' | null = 'execute', scopes = {}) =>
    threadOptions(fixtureSpecs, { ...DEFAULT_PROJECT_CONFIG, scopes }, peripheral, '/repo', mode);

  test('allow writing only if the peripheral writes, and only in its folders', () => {
    for (const peripheral of [null, 'explore', 'test', 'deploy', 'reflect', 'chat'])
      expect(of(peripheral)).toMatchObject({ sandboxMode: 'read-only', writableRoots: [] });
    expect(of('edit')).toMatchObject({
      sandboxMode: 'workspace-write',
      writableRoots: ['/repo/src', '/repo/docs', '/repo/scripts'],
    });
  });

  test('allow no writing if the mode forbids acting', () => {
    expect(of('edit', 'diagnose').sandboxMode).toBe('read-only');
    expect(of('edit', null).sandboxMode).toBe('workspace-write');
  });

  test('use the repository’s own paths instead of the spec’s', () => {
    expect(of('edit', 'execute', { edit: ['lib/', './a/b'] }).writableRoots).toEqual(['/repo/lib', '/repo/a/b']);
  });

  test('ask nobody, give no network, and hide masked files', () => {
    expect(of('edit')).toMatchObject({
      approvalPolicy: 'never',
      networkAccess: false,
      webSearch: 'disabled',
      deniedReads: DEFAULT_PROJECT_CONFIG.mask,
    });
  });
});

describe('the overrides of Codex’s configuration', () => {
  test('let the profile read the root without masked files and write the scope', () => {
    const options = {
      ...threadOptions(
        fixtureSpecs,
        { ...DEFAULT_PROJECT_CONFIG, mask: ['.env', 'secrets/', 'a/*.pem', '.env.!(a|*b)', '{x,y}.key', '!a/b.pem'] },
        'edit',
        '/re "po',
        'execute',
      ),
    };
    const { default_permissions: name, ...overrides } = parsed(sandboxOverrides(options, '/re "po'));
    expect(name).toMatch(/^hopgate-[0-9a-f-]{36}$/);
    expect(overrides).toEqual({
      permissions: {
        [String(name)]: {
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

  test('let only hopgate’s MCP server ask the person', () => {
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

  test('approve the server’s tools, and follow changes of the list', () => {
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

  test('register a hook for every event and every tool', () => {
    const { hooks } = parsed(hookOverrides(codexHooks('hop'))) as never as { hooks: { [event: string]: object[] } };
    expect(Object.keys(hooks).sort()).toEqual([...CODEX_EVENTS].sort());
    for (const groups of Object.values(hooks))
      expect(groups).toEqual([{ hooks: [{ type: 'command', command: expect.any(String), timeout: 60 }] }]);
  });

  test('list every trusted hook and every hook that must not run', () => {
    expect(parsed([trustOverride({}, ['k'])])).toEqual({ hooks: { state: { k: { enabled: false } } } });
    expect(parsed([trustOverride({ '/<session-flags>/config.toml:stop:0:0': 'sha256:1' })])).toEqual({
      hooks: { state: { '/<session-flags>/config.toml:stop:0:0': { enabled: true, trusted_hash: 'sha256:1' } } },
    });
  });
});

describe('the shell command of a Codex hook', () => {
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
  ])('refuses if it %s', (_, command) => {
    const { status, stderr } = run(command);
    expect(status).toBe(2);
    expect(stderr).toContain('hopgate');
  });

  test('allows without output, refuses with a reason, and receives its input', () => {
    expect(run('cat > /dev/null')).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(run(`sh -c 'read x; echo "no $x" >&2; exit 2'`)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^no /),
    });
  });

  test('does not keep an agent from stopping if it fails', () => {
    for (const command of ['exit 1', 'exit 2', '/no/such/program']) expect(run(command, 'Stop').status).toBe(0);
  });

  test('passes on the output of other events', () => {
    expect(run(`echo 'it'"'"'s'`, 'SessionStart')).toEqual({ status: 0, stdout: "it's\n", stderr: '' });
  });

  test('quotes a text as one word of any shell', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{0,30}$/), (word) => {
        expect(spawnSync('/bin/sh', ['-c', `printf %s ${quoteShell(word)}`], { encoding: 'utf8' }).stdout).toBe(word);
      }),
      { numRuns: depth(5, 30) },
    );
  });
});
