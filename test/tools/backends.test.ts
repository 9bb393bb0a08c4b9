import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { defaultBackends } from '../../src/default-backends.ts';
import { COMMAND_TOOLS } from '../../src/spec/policy/command-tools.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { agencyBackend } from '../../src/tools/agency/agency-backend.ts';
import { disciplineBackend } from '../../src/tools/discipline/discipline-backend.ts';
import { gitBackend } from '../../src/tools/git/git-backend.ts';
import { messagesBackend } from '../../src/tools/messages/messages-backend.ts';
import { sandboxOfProcess } from '../../src/tools/sandbox/detect-sandbox.ts';
import { type Sandbox, SandboxError } from '../../src/tools/sandbox/sandbox.ts';
import { sessionLogBackend } from '../../src/tools/session-log.ts';
import { shellBackend } from '../../src/tools/shell/shell-backend.ts';
import { webBackend } from '../../src/tools/web/web-backend.ts';
import { workspaceBackend } from '../../src/tools/workspace/workspace-backend.ts';
import { worldBackend } from '../../src/tools/world/world-backend.ts';
import { householdWorld } from '../../src/world/home-world.ts';
import { type ContractCase, ENVELOPE, toolBackendContract, toolCall } from '../contracts/tool-backend.ts';
import { conversation, opening } from '../evidence/drafts.ts';

const sandbox = await sandboxOfProcess();

it('each backend is loaded for exactly the tools that it serves', () => {
  const store = memoryStore();
  const backends = [
    workspaceBackend(),
    shellBackend(sandbox),
    gitBackend(sandbox),
    webBackend(),
    sessionLogBackend(store),
    worldBackend(householdWorld),
    messagesBackend(store),
    agencyBackend(store, () => ({})),
    disciplineBackend(store),
  ];
  const listed = defaultBackends(store, { unsafeNoSandbox: false });
  const named = (all: typeof backends) => all.map(({ name, tools }) => [name, tools.toSorted()]);
  expect(named(listed)).toEqual(named(backends));
});

it('each tool of the shell and of git has a row in COMMAND_TOOLS, and a call in CALLS of this file', () => {
  const tools = [shellBackend(sandbox), gitBackend(sandbox)].flatMap((backend) => backend.tools).toSorted();
  expect(Object.keys(COMMAND_TOOLS).toSorted()).toEqual(tools);
  expect(Object.keys(CALLS).toSorted()).toEqual(tools);
});

it.each(Object.keys(COMMAND_TOOLS))(
  'without overlays, a call of %s is refused only if the tool needs them',
  async (tool) => {
    const { availability } = sandbox;
    if (!availability.ok) throw new Error(availability.reason);
    const box: Sandbox = {
      availability: { ...availability, overlay: false },
      run: () => Promise.reject(new SandboxError('the command ran')),
    };
    const backend = [shellBackend(box), gitBackend(box)].find(({ tools }) => tools.includes(tool))!;
    const { kind, args } = CALLS[tool]!;
    const root = mkdtempSync(join(tmpdir(), 'hopgate-overlay-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const { outcome } = await backend.run(toolCall(tool, args, { ...scoped(kind), root }));
    expect(outcome.status !== 'ok' && outcome.code === 'sandbox-unavailable', JSON.stringify(outcome)).toBe(
      COMMAND_TOOLS[tool]!.needsOverlay,
    );
  },
);

it.each([...Object.keys(COMMAND_TOOLS), ...['read', 'glob', 'grep', 'edit', 'write']])(
  '%s names the folder of the repository if it no longer exists',
  async (tool) => {
    const files = { path: 'src/a', pattern: 'a', content: 'a', old: 'a', new: 'b' };
    const { kind, args } = CALLS[tool] ?? { kind: 'none' as const, args: files };
    const backends = [shellBackend(sandbox), gitBackend(sandbox), workspaceBackend()];
    const backend = backends.find(({ tools }) => tools.includes(tool))!;
    const call = toolCall(tool, args, { ...scoped(kind), root: '/nowhere/repository' });
    const { outcome } = await backend.run(call);
    expect(outcome).toMatchObject({
      status: 'failed',
      code: 'no-root',
      message: expect.stringContaining('/nowhere/repository'),
    });
  },
);

const CALLS: { readonly [tool: string]: { readonly kind: Rule; readonly args: ContractCase['args'] } } = {
  bash: { kind: 'contained', args: { command: 'true' } },
  'bash-readonly': { kind: 'contained', args: { command: 'true' } },
  'bash-background': { kind: 'contained', args: { command: 'true' } },
  'bash-test': { kind: 'test', args: {} },
  'bash-deploy': { kind: 'deploy', args: { name: 'site' } },
  'bash-git': { kind: 'deploy', args: { sub: 'status' } },
  install: { kind: 'contained', args: { command: 'true' } },
};

type Rule = (typeof ENVELOPE)['scope']['command'];

const command = (tool: string, args: ContractCase['args'], more: Partial<ContractCase> = {}): ContractCase => ({
  what: tool,
  tool,
  args,
  ends: 'ok',
  ...more,
});
const scoped = (rule: Rule): ContractCase['envelope'] => ({
  scope: { ...ENVELOPE.scope, command: rule },
  config: {
    ...ENVELOPE.config,
    test: [{ run: ['true'], report: 'exit' }] as never,
    deploy: { site: { run: ['true'] } } as never,
    install: [{ run: ['true'] }] as never,
  },
});

toolBackendContract(
  'shell',
  () => ({
    backend: shellBackend(sandbox),
    envelope: scoped('contained'),
    cases: [
      command('bash', { command: 'echo two > src/two.txt' }, { effects: ['src/two.txt'] }),
      command('bash', { command: 'echo no > ../beside/secret.txt || true' }, { what: 'a write outside' }),
      command('bash-readonly', { command: 'cat src/main.ts' }),
      command('bash-background', { command: 'true' }),
      command('bash-test', {}, { envelope: scoped('test') }),
      command('bash-deploy', { name: 'site' }, { envelope: scoped('deploy') }),
      command('install', { command: 'true' }),
    ],
  }),
  [
    command('bash', { command: 'cat src/secret.txt src/out/secret.txt' }, { what: 'a read by links' }),
    command('bash', { command: 'echo no > src/secret.txt' }, { what: 'a write by a link' }),
    command('bash', { command: 'mkdir -p src/out; echo no > src/out/new.txt' }, { what: 'a write below a link' }),
    command('bash-readonly', { command: 'cat src/secret.txt' }),
  ],
);

toolBackendContract(
  'git',
  (root) => {
    execFileSync('git', ['init', '--quiet', root]);
    return {
      backend: gitBackend(sandbox),
      envelope: scoped('deploy'),
      cases: [command('bash-git', { sub: 'status' }), command('bash-git', { sub: 'add', args: ['src/main.ts'] })],
    };
  },
  [
    command('bash-git', { sub: 'add', args: ['src/out/secret.txt'] }, { what: 'an add below a link' }),
    command('bash-git', { sub: 'diff', args: ['src/secret.txt'] }, { what: 'a diff of a link' }),
  ],
);

toolBackendContract(
  'web',
  () => ({
    backend: webBackend(),
    effect: 'observe',
    cases: [
      command('web-fetch', { url: 'https://example.com/' }, { ends: 'refused', code: 'out-of-scope', effects: [] }),
    ],
  }),
  { none: 'it reads no files (test/tools/web/web-fetch.test.ts has the redirects)' },
);

toolBackendContract(
  'environment',
  () => ({
    backend: worldBackend(householdWorld),
    effect: 'simulate',
    cases: [command('alfworld-action', { action: 'look' })],
  }),
  { none: 'it plays in a world without files' },
);

toolBackendContract(
  'messages',
  async () => {
    const store = memoryStore();
    const lease = await store.acquire('session-2', 'w', 60_000);
    await store.append(lease, await store.head('session-2'), conversation('session-2', 1));
    return {
      backend: messagesBackend(store),
      effect: 'coordinate',
      cases: [
        command('bell', { to: 'session:session-2', text: 'hello' }, { effects: [] }),
        command('whistle', { to: 'session:session-2', text: 'hello', seconds: 0.01 }, { effects: [] }),
        command('bell', { to: 'session:none', text: 'hello' }, { ends: 'refused', code: 'invalid-action' }),
      ],
    };
  },
  { none: 'it writes only to the store' },
);

toolBackendContract(
  'agency',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'hopgate-agency-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const store = memoryStore();
    const args = { agent: 'nobody', peripheral: 'review', prompt: 'Look.' };
    const lease = await store.acquire('session-1', 'w', 60_000);
    const body = { event: 'intent', tool: 'agency-run', args };
    await store.append(lease, await store.head('session-1'), [opening('session-1', { body })]);
    return {
      backend: agencyBackend(store, () => ({ HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home })),
      effect: 'coordinate',
      cases: [command('agency-run', args, { ends: 'failed', code: 'unknown-agent', effects: [] })],
    };
  },
  { none: 'no argument is a path; an agent with tools of its own needs `within: own`' },
);

toolBackendContract(
  'discipline',
  () => ({
    backend: disciplineBackend(memoryStore()),
    effect: 'observe',
    cases: [
      command('psr-search', { query: 'edit a file safely' }),
      command('psr-select', { pattern: 'read-before-edit', rationale: 'it fits' }),
      command('pur-update', { pattern: 'none', outcome: 'success' }, { ends: 'refused' }),
      command('pur-mark-pivot', { pattern: 'none', reason: 'x' }, { ends: 'refused' }),
      command('par-punctuate', {}),
    ],
  }),
  { none: 'the file tools read its patterns, and no argument is a path' },
);
