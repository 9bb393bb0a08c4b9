import { expect, it } from 'vitest';
import { runAndVerify } from '../../src/run-and-verify.ts';
import { workspaceBackend } from '../../src/tools/workspace/backend.ts';
import { answering, CONFIG, folder, parts, SPECS, yes } from './world.ts';

it('runs a visit with real tools and finds its evidence clean', async () => {
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
      approver: yes,
      mode: 'execute',
      by: 'operator',
      fruit: { 'commit-message': 'Fix it' },
    },
  );
  expect(run).toMatchObject({ ok: true, denial: null, verdict: { ok: true, violations: [], gaps: [] } });
  expect(run.fruit).toMatchObject({ changes: 2, 'changed-files': ['src/a.ts', 'docs/b.md'] });
  expect(run.evidence.at(-1)?.tags).toContain('session-closed');
});

it('ends at the first refusal, with the evidence so far', async () => {
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
