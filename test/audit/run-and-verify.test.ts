import { expect, it } from 'vitest';
import { toBody } from '../../src/evidence/bodies.ts';
import { runAndVerify } from '../../src/run-and-verify.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { workspaceBackend } from '../../src/tools/workspace/workspace-backend.ts';
import { answering, CONFIG, folder, parts, SPECS, yes } from './audited-session.ts';

/** Only what are options of `runAndVerify`. */
function own() {
  const { pass: _, ...options } = parts();
  return options;
}

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
      ...own(),
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
    { ...own(), backends: [answering()], config: CONFIG, root: '/repo', mode: 'diagnose' },
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
      ...own(),
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

it('runAndVerify keeps what an observing tool did before its backend refused', async () => {
  const outcome = {
    status: 'refused',
    code: 'out-of-scope',
    message: 'it redirects to x.org',
    remedy: 'Stay.',
  } as const;
  const redirected = { outcome, effects: [{ path: 'docs.example.com', op: 'connect' }] } as const;
  const fetching = [{ tool: 'web-fetch', args: { url: 'https://docs.example.com/' } }];
  const { explore } = SPECS.peripherals;
  const specs = {
    ...SPECS,
    peripherals: { ...SPECS.peripherals, explore: { ...explore!, limits: { steps: 1, minutes: null } } },
  };
  const run = await runAndVerify(specs, 'explore', fetching, {
    ...own(),
    backends: [scriptedBackend({ 'web-fetch': redirected })],
    config: CONFIG,
    root: folder({}),
    approver: () => true,
    mode: 'diagnose',
  });
  expect(run.denial).toMatchObject({ code: 'out-of-scope' });
  // The limit was set in memory, so the pin has another hash.
  expect(run.verdict?.violations.map(({ rule }) => rule)).toEqual(['pin']);
  expect(run.evidence.map(({ body }) => toBody(body))).toContainEqual(
    expect.objectContaining({ event: 'step', tool: 'web-fetch', effects: redirected.effects }),
  );
});
