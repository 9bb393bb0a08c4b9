import { expect, it } from 'vitest';
import { commandRefusalReason } from '../../src/audit/rules/commands/audited-command.ts';
import { effectiveScope } from '../../src/gate/decide-step.ts';
import { scopeProblem } from '../../src/gate/scope/scope-problem.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import type { ArgumentRole, Json, ProjectConfig, ScopeRule, ToolSpec } from '../../src/spec/types.ts';
import { fixtureSpecs } from './views.ts';

const closed: ScopeRule = { read: 'none', write: [], command: 'none', url: 'none' };
const config: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  mask: ['.env', '*.pem'],
  test: [{ run: ['npm', 'test', '{args}'], report: 'tap' }],
  deploy: { staging: { run: ['./ship', 'staging'], network: false } },
  git: { remote: 'origin', branch: ['main', 'agent/*'] },
  web: { allow: ['docs.example.com'] },
};

const toolWith = (parameter: { readonly name: string; readonly role: ArgumentRole }): ToolSpec => ({
  id: 'tool',
  purpose: '',
  effect: 'act',
  parameters: [{ ...parameter, schema: {}, required: false, description: '' }],
  limits: { seconds: 1, outputBytes: 1 },
});

/** The problem of one argument of a role. */
function problemOf(
  role: ArgumentRole,
  value: Json | undefined,
  scope: Partial<ScopeRule>,
  files: readonly string[] = [],
) {
  const tool = toolWith({ name: 'it', role });
  const args: { [name: string]: Json } = value === undefined ? {} : { it: value };
  return scopeProblem({
    tool,
    args,
    scope: { ...closed, ...scope },
    config,
    root: '/r',
    files,
    unsafeNoSandbox: false,
    message: null,
  });
}

/** The answer to one argument of a role: null, or the code and why. */
function problem(...call: Parameters<typeof problemOf>) {
  const found = problemOf(...call);
  return found && `${found.code}: ${found.about['why']}`;
}

it.each<[ArgumentRole, Json, string]>([
  ['path:read', ['src/a', '../b'], '../b'],
  ['path:write', ['src/a', 'docs/b'], 'docs/b'],
  ['resource', ['db:a/x', 'db:b/x'], 'db:b/x'],
])('the refusal of a list for %s names only the element that is out of scope', (role, list, element) => {
  const scope = { read: 'root', write: ['src/'], resource: ['db:a/*'] } as const;
  expect(problemOf(role, list, scope)?.about['value']).toBe(element);
});

it('the remedy for a control character in a path needs no shell', () => {
  const remedy = 'Give the path without the character. A file whose name contains one has to be renamed first.';
  expect(problemOf('path:read', 'a\n', { read: 'root' })?.about['remedy']).toBe(remedy);
});

const src = { write: ['src/'] };
it.each<[ArgumentRole, Json | undefined, Partial<ScopeRule>, string | null]>([
  ['path:read', 'src/a', { read: 'root' }, null],
  ['path:read', undefined, { read: 'root' }, null],
  ['path:read', ['src/a', 'docs'], { read: 'root' }, null],
  ['path:read', 'src/a', {}, 'out-of-scope: this scope reads no files'],
  ['path:read', undefined, {}, 'out-of-scope: the scope of the peripheral does not grant reading the whole root'],
  [
    'path:read',
    undefined,
    { read: 'session-log' },
    'out-of-scope: the scope of the peripheral does not grant reading the whole root',
  ],
  [
    'path:read',
    'src/b',
    { read: 'session-log' },
    'out-of-scope: only files that this session has named can be read here',
  ],
  ['path:read', 'seen/a', { read: 'session-log' }, null],
  [
    'path:read',
    'seen/a/b',
    { read: 'session-log' },
    'out-of-scope: only files that this session has named can be read here',
  ],
  ['path:read', '../x', { read: 'root' }, 'out-of-scope: the path is outside the root'],
  ['path:read', ['src/a', '../x'], { read: 'root' }, 'out-of-scope: the path is outside the root'],
  ['path:read', 'a\u0000', { read: 'root' }, 'invalid-action: the path contains a control character'],
  ['path:read', '.env', { read: 'root' }, 'out-of-scope: the file is masked (it may contain secrets)'],
  ['path:read', 'deploy/KEY.PEM', { read: 'root' }, 'out-of-scope: the file is masked (it may contain secrets)'],
  ['path:write', 'src/a', src, null],
  ['path:write', 'src-evil/a', src, 'out-of-scope: it is outside the writable paths'],
  ['path:write', 'src/a', {}, 'out-of-scope: the scope of the peripheral allows no writes'],
  ['path:write', '.env', { write: ['.'] }, 'out-of-scope: the file is masked (it may contain secrets)'],
  [
    'path:write',
    'src/.git/hooks/pre-commit',
    src,
    'out-of-scope: the file controls git, an editor, an agent or hopgate itself, so no agent may write it',
  ],
  [
    'path:write',
    'hopgate.yaml',
    { write: ['.'] },
    'out-of-scope: the file controls git, an editor, an agent or hopgate itself, so no agent may write it',
  ],
  ['command', 'ls', {}, 'out-of-scope: this scope runs no commands'],
  ['command', 'ls', { command: 'read-only' }, null],
  ['url', 'https://example.com', {}, 'out-of-scope: the scope of the peripheral allows no URLs'],
  ['url', 'https://docs.example.com/a', { url: 'allow-list' }, null],
  ['url', ['https://docs.example.com'], { url: 'allow-list' }, null],
  ['url', 'https://example.com', { url: 'allow-list' }, 'out-of-scope: example.com is not listed.'],
  ['url', 'file:///etc/passwd', { url: 'allow-list' }, 'invalid-action: file: is not a web address.'],
  ['url', ['https://docs.example.com', 'https://x.org'], { url: 'allow-list' }, 'out-of-scope: x.org is not listed.'],
  ['url', 7, { url: 'allow-list' }, 'invalid-action: "it" must be an address.'],
  ['command', 'npm test', { command: 'test' }, null],
  ['command', ['npm', 'test', 'one'], { command: 'test' }, null],
  ['command', 'rm -rf /', { command: 'test' }, 'out-of-scope: "rm -rf /" is not a configured test command.'],
  ['command', 'npm test; rm x', { command: 'test' }, expect.stringMatching(/^invalid-action: "it" cannot be run/)],
  ['command', 'staging', { command: 'deploy' }, null],
  ['command', './ship staging', { command: 'deploy' }, null],
  ['command', 'git push origin agent/x', { command: 'deploy' }, null],
  ['command', 'git push --force', { command: 'deploy' }, expect.stringMatching(/^invalid-action: git push --force/)],
  ['command', 'git push else main', { command: 'deploy' }, 'out-of-scope: "else" is not the configured remote.'],
  ['command', './ship all', { command: 'deploy' }, 'out-of-scope: "./ship all" is not a configured deploy command.'],
  ['command', 'a; b', { command: 'contained' }, null],
  ['command', ' ', { command: 'contained' }, 'invalid-action: "it" is empty.'],
  ['text', '../../etc/passwd', {}, null],
])('the scope decides a %s of %j', (role, value, scope, expected) => {
  expect(problem(role, value, scope, ['seen/a'])).toEqual(expected);
});

it.each<[string, { readonly [name: string]: Json }, ScopeRule['command'], string | null]>([
  ['bash', { command: 'id' }, 'none', 'out-of-scope: this scope runs no commands'],
  ['bash', { command: 'id' }, 'deploy', expect.stringMatching(/^out-of-scope: bash runs only where/)],
  ['bash-deploy', { name: 'production' }, 'deploy', expect.stringMatching(/^out-of-scope: .* not a configured deploy/)],
  ['bash-git', { sub: 'push --force' }, 'deploy', expect.stringMatching(/^invalid-action: git push --force/)],
  ['bash-deploy', { name: 'staging' }, 'deploy', null],
])(
  '%s with %j is judged by the command scope %s also if its spec declares no command',
  (id, args, command, expected) => {
    const tool = { ...toolWith({ name: Object.keys(args)[0]!, role: 'text' }), id };
    const call = {
      tool,
      args,
      scope: { ...closed, command },
      config,
      root: '/r',
      unsafeNoSandbox: false,
      message: null,
    };
    const found = scopeProblem({ ...call, files: [] });
    expect(found && `${found.code}: ${found.about['why']}`).toEqual(expected);
    expect(commandRefusalReason(call)?.code ?? null).toBe(found?.code ?? null);
  },
);

it('a repository’s own paths replace the spec’s only if the spec grants paths', () => {
  const own = { ...DEFAULT_PROJECT_CONFIG, scopes: { edit: ['lib/'], explore: ['src/'] } };
  expect(effectiveScope(fixtureSpecs, own, 'edit').write).toEqual(['lib/']);
  expect(effectiveScope(fixtureSpecs, own, 'explore').write).toEqual([]);
  expect(effectiveScope(fixtureSpecs, DEFAULT_PROJECT_CONFIG, 'edit').write).toEqual(['src/', 'docs/', 'scripts/']);
  expect(effectiveScope(fixtureSpecs, own, 'constructor')).toEqual(closed);
});
