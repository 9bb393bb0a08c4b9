import { expect, it } from 'vitest';
import { decide } from '../../src/gate/decide.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { contextOf, viewOf, visitTo } from './views.ts';

const DEPLOY = 'bash-git runs it: hop to deploy with exit pass (needs: ';
const EDIT = 'bash runs it: hop to edit with exit hop-edit.';

it.each<[string | string[], string | null]>([
  ['git commit -m "fix: x"', DEPLOY],
  [['git', 'push', '-u', 'origin', 'topic'], DEPLOY],
  ['git branch topic', DEPLOY],
  ['git add -A && git commit -m x', DEPLOY],
  ['git -C . push', DEPLOY],
  ['GIT_TRACE=1 /usr/bin/git --no-pager -c color.ui=never --git-dir .git push', DEPLOY],
  ['git -C push status', EDIT],
  ['git status', EDIT],
  ['ls src', EDIT],
  ['npm ci', EDIT],
  ['ls; ls', null],
])('the refusal of %j in test names the tool that runs it, and the path to it', (command, way) => {
  const fruits = { edit: { 'commit-message': 'fix: x' } };
  const context = contextOf(viewOf({ visit: visitTo('test'), visits: { test: 1 }, fruits }));
  const config = { ...context.config, test: [{ run: ['npm', 'test'], report: 'none' as const }] };
  const decision = decide({ ...context, config }, { kind: 'step', tool: 'bash-test', args: { command } });
  if (decision.ok) throw new Error('allowed');
  const { remedy, way: legs } = decision.denial;
  if (way === null) expect([remedy, legs]).toEqual([expect.not.stringContaining('runs it'), null]);
  else expect(remedy).toContain(way);
});

it.each([{}, { command: 'npm install x' }])('the refusal of an install with %j names no shell', async (args) => {
  const context = contextOf(viewOf({ visit: visitTo('edit'), visits: { edit: 1 } }), await loadSpecs('default'));
  const commands = [
    ['npm', 'ci'],
    ['pip', 'install'],
  ];
  const install = commands.map((run) => ({ run, hosts: [], scripts: false, approval: false }));
  const config = { ...context.config, install };
  const decision = decide({ ...context, config }, { kind: 'step', tool: 'install', args });
  const remedy = /^Run one of: npm ci \| pip install\.(?!.* runs it)/;
  expect(decision).toMatchObject({ ok: false, denial: { remedy: expect.stringMatching(remedy) } });
});
