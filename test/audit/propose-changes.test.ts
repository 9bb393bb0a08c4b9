import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proposeSpecChanges } from '../../src/audit/infer/propose-changes.ts';
import { readPar } from '../../src/evidence/patterns/par.ts';
import { openSession } from '../../src/open-session.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { commitAll, machine } from '../cli/run.ts';

const review = (approach: readonly string[], ...wrong: readonly string[]) =>
  readPar({ 'event/type': 'session/par', approach: [...approach], what_could_improve: [...wrong] })!;

describe('changes from reviews', async () => {
  const builtIn = await loadSpecs('specs');
  const { explore } = builtIn.peripherals;
  const specs = {
    ...builtIn,
    peripherals: { ...builtIn.peripherals, explore: { ...explore!, limits: { steps: null, minutes: 10 } } },
  };

  it('raise a passed time limit, and add a tool that only observes', () => {
    const par = review(['explore'], '2 × time limit of explore passed', '1 × denied: tool-not-allowed (musn-log)');
    const { changes, open, specs: next } = proposeSpecChanges(specs, [par, par], 2);
    expect(changes.map(({ peripheral, change }) => [peripheral, change])).toEqual([
      ['explore', 'limits.minutes: 10 → 20'],
      ['explore', 'tools: + musn-log'],
    ]);
    expect(open).toEqual([]);
    expect(next.peripherals['explore']!.tools).toContain('musn-log');
    expect(next.hash).not.toBe(specs.hash);
  });

  it('do not include a tool that acts, a tool with two possible peripherals, or a rare problem', () => {
    const acts = review(['explore'], '1 × denied: tool-not-allowed (write)', '1 × failed: read, gone');
    const two = review(['explore', 'edit'], '1 × denied: tool-not-allowed (musn-log)');
    const rare = review(['explore'], '1 × time limit of explore passed');
    const { changes, open, specs: same } = proposeSpecChanges(specs, [acts, acts, two, two, rare], 2);
    expect(changes).toEqual([]);
    expect(open.map(({ why }) => why)).toEqual([
      'the reviews do not name exactly one peripheral: explore, edit',
      'write changes something (act): the author of the specs must decide whether to allow it',
      'no rule turns this problem into a change',
    ]);
    expect(same).toBe(specs);
  });
});

it('hopgate par --propose shows the change with its proof and the replay of the sessions', async () => {
  const at = machine({ 'a.txt': 'a\n' });
  const { root } = at;
  commitAll(root);
  const file = join(ensureStateDir(root, at.env), 'evidence.db');
  for (let count = 0; count < 2; count++) {
    const session = await openSession({ root, agent: 'ann', store: file });
    await session.setMode({ to: 'diagnose' });
    await session.start('explore');
    expect((await session.step({ tool: 'musn-log', args: {} })).ok).toBe(false);
    await session.step({ tool: 'read', args: { path: 'a.txt' } });
    // The review names this place, too; the evidence says that nothing was refused there.
    expect((await session.hop({ to: 'discipline', exit: 'hop-discipline', reason: 'plan' })).ok).toBe(true);
    expect(await session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'done' })).toMatchObject({ ok: true });
    expect((await session.stop('done')).ok).toBe(true);
    await session.detach();
  }
  const { code, out, err } = await at.run('par', '--propose', '--json');
  expect([code, err]).toEqual([0, '']);
  const json = JSON.parse(out);
  expect(json.changes).toMatchObject([{ peripheral: 'explore', change: 'tools: + musn-log', reviews: 2 }]);
  expect(json.properties.length).toBeGreaterThan(3);
  expect(json.replay).toMatchObject([{ changes: [{ now: 'allow' }] }, { changes: [{ now: 'allow' }] }]);
  expect((await at.run('par', '--propose')).out).toContain('the changes break 0.');
  expect((await at.run('par', '--propose', '--least', '3')).out).toContain('None.');
});
