import { describe, expect, test } from 'vitest';
import { codexHooks } from '../../../src/adapters/codex/codex-hook-config.ts';
import { hashesOfHopgateHooks } from '../../../src/cli/codex/codex-arguments.ts';
import { parseCodexCommand } from '../../../src/cli/codex/codex-command.ts';
import { codexHookWarning } from '../../../src/cli/codex/show-codex-end.ts';
import type { StoredConversation } from '../../../src/daemon/conversation-files.ts';

describe('the arguments of "hopgate codex"', () => {
  const id = '01a2050e-0196-702b-8c3a-84607aa2fb91';
  test.each([
    [['resume', id], { id }],
    [['resume', '--last'], 'last'],
    [['exec', 'resume', '--last', 'go on'], 'last'],
    [['exec', '--json', 'resume', id, 'go on'], { id }],
    [['-m', 'gpt', 'fork', id], { id }],
    [['resume'], null],
    [['exec', 'resume the work'], null],
    [['go', 'resume', '--last'], null],
  ])('determine the continued conversation: %j', (words, continued) => {
    expect(parseCodexCommand(words).continued).toEqual(continued);
  });

  test('up to the first unknown one belong to hopgate, the others to Codex', () => {
    expect(
      parseCodexCommand([
        '--root',
        'r',
        '--session=s',
        '--approve',
        'execute,deploy',
        '--approve=x',
        '--follow',
        '--codex',
        'c',
        'exec',
        '--json',
        '--root',
        'mine',
        'do it',
      ]),
    ).toEqual({
      root: 'r',
      session: 's',
      peripheral: null,
      approve: ['execute', 'deploy', 'x'],
      afterApprove: null,
      continued: null,
      program: 'c',
      follow: true,
      observe: false,
      args: ['exec', '--json', '--root', 'mine', 'do it'],
    });
    expect(parseCodexCommand([]).args).toEqual([]);
    expect(parseCodexCommand(['--', '--root']).args).toEqual(['--root']);
    expect(parseCodexCommand(['-m', 'gpt', 'exec']).args).toEqual(['-m', 'gpt', 'exec']);
  });

  test.each([
    [['-s', 'danger-full-access']],
    [['exec', '--sandbox=workspace-write', 'x']],
    [['exec', '-sread-only']],
    [['--dangerously-bypass-approvals-and-sandbox']],
    [['--yolo']],
    [['-a', 'on-request']],
    [['--approve-for-me']],
    [['--cd', '/']],
    [['exec', '-C/tmp']],
    [['--add-dir', '/']],
    [['--remote', 'ws://x']],
    [['--search']],
    [['--worktree']],
    [['-c', 'sandbox_mode="danger-full-access"']],
    [['exec', '-c', 'hooks={}']],
    [['-c', '"hooks" . PreToolUse = []']],
    [['-chooks.state={}']],
    [['--config=features.hooks=false']],
    [['--config', 'features={}']],
    [['--disable', 'hooks']],
    [['--enable=mcp_tool_list_changed']],
    [['-c', 'mcp_servers={}']],
    [['-c', 'mcp_servers.hopgate.command="x"']],
    [['-c', 'permissions.hopgate.network.enabled=true']],
    [['-c', 'default_permissions=":danger-full-access"']],
    [['-c', 'approval_policy="on-request"']],
    [['-c', 'web_search="live"']],
    [['mcp', 'list']],
    [['app-server']],
    [['login']],
  ])('are refused with a remedy if they would replace or weaken hopgate’s limits: %j', (args) => {
    expect(() => parseCodexCommand(args)).toThrow(
      expect.objectContaining({ code: 'usage', remedy: expect.stringMatching(/Leave|without hopgate/) }),
    );
  });

  test.each([
    [['exec', 'leave --sandbox alone']],
    [['exec', '--', '-s']],
    [['-c', 'model="gpt-5.5"']],
    [['-c', 'mcp_servers.other.command="x"']],
    [['-c', 'features.goals=false']],
    [['exec', 'resume', '--last', 'go on']],
    [['exec', '--skip-git-repo-check', '--json', '--ephemeral', 'x']],
    [['-p', 'mine']],
    [['resume']],
  ])('are passed to Codex: %j', (args) => {
    expect(parseCodexCommand(args).args).toEqual(args);
  });

  test('are refused if an option has no value', () => {
    for (const words of [['--session'], ['--root='], ['--approve']])
      expect(() => parseCodexCommand(words)).toThrow('needs a value');
  });
});

describe('the hooks that Codex is about to run', () => {
  const ours = codexHooks('hook');
  const listed = Object.entries(ours).map(([event, [group]]) => ({
    key: `/<session-flags>/config.toml:${event}:0:0`,
    eventName: event,
    command: group?.hooks[0]?.command ?? null,
    source: 'sessionFlags',
    enabled: true,
    currentHash: `sha256:${event}`,
    trustStatus: 'untrusted' as const,
  }));
  const answer = { version: '0.169.0', codexHome: '/', problems: ['a policy'], hooks: listed };

  test('are trusted by the hash that Codex reports, and no other hook is', () => {
    const stranger = { ...listed[0], key: 'k', command: 'curl evil' } as (typeof listed)[number];
    const fromRepository = { ...listed[0], key: 'r', source: 'project' } as (typeof listed)[number];
    const hashes = hashesOfHopgateHooks({ ...answer, hooks: [...listed, stranger, fromRepository] }, ours);
    expect(Object.keys(hashes)).toEqual(listed.map(({ key }) => key));
  });

  test.each([
    ['one is missing', listed.slice(1)],
    ['one is switched off', listed.map((hook, index) => ({ ...hook, enabled: index > 0 }))],
    ['none is listed', []],
  ])('stop Codex from starting if %s', (_, hooks) => {
    expect(() => hashesOfHopgateHooks({ ...answer, hooks }, ours)).toThrow(
      expect.objectContaining({ code: 'hooks-off', message: expect.stringContaining('a policy') }),
    );
  });
});

describe('a run of Codex without hooks', () => {
  const record = (begun: string | null, agentId: string | null = null): StoredConversation => ({
    conversation: { client: 'codex', id: 't', agentId, root: '/' },
    sessionId: 's',
    parent: null,
    events: [],
    notes: begun === null ? {} : { begun },
    client: null,
  });

  test('is reported if no hook was called, or none at the start of this run', () => {
    expect(codexHookWarning([], '2026-01-02')).toContain('none of hopgate');
    expect(codexHookWarning([record('2026-01-01')], '2026-01-02')).toContain('at its start');
    expect(codexHookWarning([record(null)], '2026-01-02')).toContain('at its start');
    expect(codexHookWarning([record('2026-01-03', 'sub')], '2026-01-02')).toContain('none of hopgate');
    expect(codexHookWarning([record('2026-01-03')], '2026-01-02')).toBeNull();
  });
});
