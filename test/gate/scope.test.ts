import { expect, it } from 'vitest';
import { effectiveScope } from '../../src/gate/decide-step.ts';
import { scopeProblem } from '../../src/gate/scope/scope.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/load/load-project-config.ts';
import type { ArgumentRole, Json, ScopeRule } from '../../src/spec/types.ts';
import { fixtureSpecs } from './views.ts';

const closed: ScopeRule = { read: 'none', write: [], command: 'none', url: 'none' };
const config = { ...DEFAULT_PROJECT_CONFIG, mask: ['.env', '*.pem'] };

/** The answer to one argument of a role: null, or the code and why. */
function problem(
  role: ArgumentRole,
  value: Json | undefined,
  scope: Partial<ScopeRule>,
  files: readonly string[] = [],
) {
  const parameter = { name: 'it', role, schema: {}, required: false, description: '' };
  const tool = {
    id: 'tool',
    purpose: '',
    effect: 'act' as const,
    parameters: [parameter],
    limits: { seconds: 1, outputBytes: 1 },
  };
  const args: { [name: string]: Json } = value === undefined ? {} : { it: value };
  const found = scopeProblem({ tool, args, scope: { ...closed, ...scope }, config, root: '/r', files });
  return found && `${found.code}: ${found.about['why']}`;
}

const src = { write: ['src/'] };
it.each<[ArgumentRole, Json | undefined, Partial<ScopeRule>, string | null]>([
  ['path:read', 'src/a', { read: 'root' }, null],
  ['path:read', undefined, { read: 'root' }, null],
  ['path:read', ['src/a', 'docs'], { read: 'root' }, null],
  ['path:read', 'src/a', {}, 'out-of-scope: this scope reads no files'],
  ['path:read', undefined, {}, 'out-of-scope: this scope does not grant reading the whole tree'],
  ['path:read', undefined, { read: 'session-log' }, 'out-of-scope: this scope does not grant reading the whole tree'],
  [
    'path:read',
    'src/b',
    { read: 'session-log' },
    'out-of-scope: only files that this session has named can be read here',
  ],
  ['path:read', 'seen/a', { read: 'session-log' }, null],
  ['path:read', '../x', { read: 'root' }, 'out-of-scope: it is outside the root'],
  ['path:read', ['src/a', '../x'], { read: 'root' }, 'out-of-scope: it is outside the root'],
  ['path:read', 'a\u0000', { read: 'root' }, 'invalid-action: the path contains a control character'],
  ['path:read', '.env', { read: 'root' }, 'out-of-scope: it is masked (it may hold secrets)'],
  ['path:read', 'deploy/KEY.PEM', { read: 'root' }, 'out-of-scope: it is masked (it may hold secrets)'],
  ['path:write', 'src/a', src, null],
  ['path:write', 'src-evil/a', src, 'out-of-scope: it is outside the writable paths'],
  ['path:write', 'src/a', {}, 'out-of-scope: this scope writes nothing'],
  ['path:write', '.env', { write: ['.'] }, 'out-of-scope: it is masked (it may hold secrets)'],
  [
    'path:write',
    'src/.git/hooks/pre-commit',
    src,
    'out-of-scope: it steers git, an editor, an agent or hopgate itself; no agent may write it',
  ],
  [
    'path:write',
    'hopgate.yaml',
    { write: ['.'] },
    'out-of-scope: it steers git, an editor, an agent or hopgate itself; no agent may write it',
  ],
  ['command', 'ls', {}, 'out-of-scope: this scope runs no commands'],
  ['command', 'ls', { command: 'read-only' }, null],
  ['url', 'https://example.com', {}, 'out-of-scope: this scope fetches nothing'],
  ['url', 'https://example.com', { url: 'allow-list' }, null],
  ['text', '../../etc/passwd', {}, null],
])('judges a %s of %j', (role, value, scope, expected) => {
  expect(problem(role, value, scope, ['seen/a'])).toBe(expected);
});

it('lets a repository name its own paths where the spec grants paths, and nowhere else', () => {
  const own = { ...DEFAULT_PROJECT_CONFIG, scopes: { edit: ['lib/'], explore: ['src/'] } };
  expect(effectiveScope(fixtureSpecs, own, 'edit').write).toEqual(['lib/']);
  expect(effectiveScope(fixtureSpecs, own, 'explore').write).toEqual([]);
  expect(effectiveScope(fixtureSpecs, DEFAULT_PROJECT_CONFIG, 'edit').write).toEqual(['src/', 'docs/', 'scripts/']);
  expect(effectiveScope(fixtureSpecs, own, 'constructor')).toEqual(closed);
});
