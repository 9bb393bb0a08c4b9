import { expect, it } from 'vitest';
import { runAndVerify } from '../../src/run-and-verify.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { workspaceBackend } from '../../src/tools/workspace/workspace-backend.ts';
import { answering, CONFIG, folder, parts, SPECS, yes } from './audited-session.ts';

it('runAndVerify runs a visit with real tools and finds its evidence clean', async () => {
  const root = folder({ 'src/a.ts': 'export const add = (a, b) => a - b;\n' });
  const run = await runAndVerify(
    SPECS,
    'edit',
    [
      { tool: 'read', args: ['src/a.ts'] },
      { tool: 'edit', args: { path: 'src/a.ts', old: 'a - b', new: 'a + b' } },
      { tool: 'write', args: { path: 'docs/b.md', content: 'b' } },
    ],
    {
      ...parts(),
      backends: [workspaceBackend()],
      config: CONFIG,
      root,
      approver: () => true,
      mode: 'execute',
      by: 'operator',
      fruit: { 'commit-message': 'Fix it' },
    },
  );
  expect(run).toMatchObject({ ok: true, denial: null, verdict: { ok: true, violations: [], gaps: [] } });
  expect(run.fruit).toMatchObject({ changes: 2, 'changed-files': ['src/a.ts', 'docs/b.md'] });
  expect(run.evidence.at(-1)?.tags).toContain('session-closed');
});

it('runAndVerify ends at the first refusal and returns the evidence so far', async () => {
  const run = await runAndVerify(
    SPECS,
    'explore',
    [
      { tool: 'read', args: ['src/a.ts'] },
      { tool: 'write', args: { path: 'src/a.ts', content: '' } },
      { tool: 'read', args: ['src/b.ts'] },
    ],
    { ...parts(), backends: [answering()], config: CONFIG, root: '/repo', mode: 'diagnose' },
  );
  expect(run).toMatchObject({ ok: false, denial: { code: 'tool-not-allowed' }, verdict: { ok: true } });
  expect(run.verdict.counts).toMatchObject({ steps: 1, denials: 1 });
});

const twoSuites = { ...CONFIG, test: [...CONFIG.test, { run: ['npm', 'run', 'lint'], report: 'none' as const }] };

it.each([
  ['explore', [{ tool: 'glob', args: ['src/**'] }]],
  ['edit', [{ tool: 'write', args: { path: 'src/a.ts', content: 'b' } }]],
  ['test', [{ tool: 'bash-test', args: ['npm test'] }]],
  ['deploy', [{ tool: 'bash-git', args: { sub: 'push' } }]],
  ['reflect', [{ tool: 'musn-log', args: {} }]],
])('runAndVerify hops to %s, in which no session can start', async (peripheral, actions) => {
  for (const specs of [SPECS, await loadSpecs('default'), await loadSpecs('test/fixtures/specs/001')]) {
    const run = await runAndVerify(specs, peripheral, actions, {
      ...parts(),
      backends: [answering()],
      config: { test: peripheral === 'deploy' ? twoSuites.test : CONFIG.test },
      root: '/repo',
      approver: yes,
      mode: 'execute',
    });
    expect(run).toMatchObject({ ok: true, denial: null, verdict: { ok: true, violations: [] } });
    expect(run.fruit).not.toBeNull();
  }
});
