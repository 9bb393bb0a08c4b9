import { expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { contextOf, viewOf, visitTo } from './views.ts';

const DEPLOY = 'bash-git runs it: hop to deploy with exit pass (needs: ';
const EDIT = 'bash runs it: hop to edit with exit hop-edit.';

it.each<[string | string[], string | null]>([
  ['git commit -m "fix: x"', DEPLOY],
  [['git', 'push', '-u', 'origin', 'topic'], DEPLOY],
  ['git branch topic', DEPLOY],
  ['git add -A && git commit -m x', DEPLOY],
  ['git status', EDIT],
  ['ls src', EDIT],
  ['npm ci', EDIT],
  ['ls; ls', null],
])('the refusal of %j in test names the tool that runs it, and the path to it', (command, way) => {
  const context = contextOf(viewOf({ visit: visitTo('test'), visits: { test: 1 } }));
  const config = { ...context.config, test: [{ run: ['npm', 'test'], report: 'none' as const }] };
  const decision = decide({ ...context, config }, { kind: 'step', tool: 'bash-test', args: { command } });
  if (decision.ok) throw new Error('allowed');
  const { remedy, way: legs } = decision.denial;
  if (way === null) expect([remedy, legs]).toEqual([expect.not.stringContaining('runs it'), null]);
  else expect(remedy).toContain(way);
});

it.each([
  ['install', {}],
  ['install', { command: 'npm install x' }],
  ['bash-test', {}],
])('the refusal of %s with %j names no other tool', (tool, args) => {
  const place = tool === 'install' ? 'edit' : 'test';
  const context = contextOf(viewOf({ visit: visitTo(place), visits: { [place]: 1 } }));
  const install = [
    ['npm', 'ci'],
    ['pip', 'install'],
  ].map((run) => ({ run, hosts: [], scripts: false, approval: false }));
  const decision = decide(
    { ...context, config: { ...context.config, test: [], install } },
    { kind: 'step', tool, args },
  );
  expect(decision).toMatchObject({ ok: false, denial: { remedy: expect.not.stringContaining('runs it') } });
});
