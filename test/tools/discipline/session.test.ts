import { describe, expect, it } from 'vitest';
import { verifySession } from '../../../src/audit/verify/verify-session.ts';
import { checkInvariants } from '../../../src/evidence/invariants.ts';
import { findLearningCycles } from '../../../src/evidence/patterns/learning-cycles.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../../src/spec/resolve/parse-project-config.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import { scriptedBackend } from '../../../src/testing/doubles/scripted-backend.ts';
import { disciplineBackend } from '../../../src/tools/discipline/discipline-backend.ts';
import { changed, denied, fixtureSpecs, must, stage, TestClock } from '../../session/sessions.ts';

async function atWork() {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const others = Object.keys(fixtureSpecs.tools).filter((tool) => !/^p[sua]r-/.test(tool));
  const rest = scriptedBackend({
    ...Object.fromEntries(others.map((id) => [id, { ok: true }])),
    edit: changed('src/a.ts'),
  });
  const staged = await stage({ store, clock, backends: [disciplineBackend(store), rest] });
  const { session } = staged;
  await must(session.start('explore'));
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.setMode({ to: 'execute' }));
  const toDiscipline = () => session.hop({ to: 'discipline', exit: 'hop-discipline', reason: 'by which pattern?' });
  const select = (pattern: string) => session.step({ tool: 'psr-select', args: [pattern, 'it fits', 'no surprises'] });
  const verdict = () =>
    verifySession(session.id, { specs: fixtureSpecs, config: DEFAULT_PROJECT_CONFIG }, store.entries(session.id));
  return { ...staged, toDiscipline, select, verdict };
}

describe('the pattern tools in a session', () => {
  it('record a selection, an outcome, a pivot and a checkpoint in evidence that passes verify', async () => {
    const { session, toDiscipline, select, verdict } = await atWork();
    await must(toDiscipline());
    const search = await must(session.step({ tool: 'psr-search', args: { query: 'edit a file safely' } }));
    expect(search.result).toMatchObject({ candidates: [{ id: 'read-before-edit' }, {}] });
    const chosen = await must(select('read-before-edit'));
    expect(chosen.result).toMatchObject({
      query: 'edit a file safely',
      candidates: ['read-before-edit', expect.anything()],
    });
    const psr = chosen.evidence[0]!;
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'to work' }));
    await must(session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
    await must(toDiscipline());
    await must(select('narrow-the-scope'));
    const updated = await must(
      session.step({ tool: 'pur-update', args: { pattern: 'read-before-edit', outcome: 'success', actual: 'none' } }),
    );
    const pivot = await must(session.step({ tool: 'pur-mark-pivot', args: ['narrow-the-scope', 'it is one file'] }));
    const stock = await must(session.step({ tool: 'par-punctuate', args: { 'what-went-well': ['it was quick'] } }));
    await must(session.stop('enough'));

    const shape = ({ type, claim, subject, patternId, inReplyTo }: (typeof chosen.evidence)[number]) => ({
      type,
      claim,
      subject: `${subject.type}:${subject.id}`,
      patternId,
      inReplyTo,
    });
    expect(shape(search.evidence[0]!)).toMatchObject({ type: 'pattern-selection', claim: 'question' });
    expect(shape(psr)).toMatchObject({
      type: 'pattern-selection',
      claim: 'goal',
      subject: 'pattern:read-before-edit',
      patternId: 'read-before-edit',
      inReplyTo: search.evidence[0]!.id,
    });
    expect(shape(updated.evidence[0]!)).toEqual({
      type: 'pattern-outcome',
      claim: 'evidence',
      subject: 'pattern:read-before-edit',
      patternId: 'read-before-edit',
      inReplyTo: psr.id,
    });
    expect(updated.result).toMatchObject({ psr: psr.id, held: true, expected: 'no surprises', actual: 'none' });
    expect(shape(pivot.evidence[0]!)).toMatchObject({
      type: 'correction',
      claim: 'correction',
      patternId: 'narrow-the-scope',
    });
    expect(shape(stock.evidence[0]!)).toMatchObject({
      type: 'reflection',
      claim: 'conclusion',
      subject: `session:${session.id}`,
    });
    expect(stock.result).toMatchObject({
      'par/tags': ['checkpoint'],
      what_went_well: ['1 × pattern read-before-edit held', 'it was quick'],
      what_could_improve: ['1 × pattern narrow-the-scope: pivoted'],
    });
    const evidence = await session.evidence();
    expect(checkInvariants(evidence)).toEqual([]);
    expect(findLearningCycles(evidence).map(({ pattern, pur, open }) => [pattern, pur?.outcome, open])).toEqual([
      ['read-before-edit', 'success', false],
      ['narrow-the-scope', 'pivoted', false],
    ]);
    const { ok, audit } = await verdict();
    expect(audit.violations).toEqual([]);
    expect(ok).toBe(true);
    expect(session.state.fruits['discipline']).toMatchObject({ patterns: ['narrow-the-scope', 'read-before-edit'] });
  });

  it('refuse an outcome without its selection, a second outcome, and an unknown pattern', async () => {
    const { session, toDiscipline, select } = await atWork();
    await must(toDiscipline());
    const early = await denied(session.step({ tool: 'pur-update', args: ['read-before-edit', 'success'] }));
    expect(early.denial).toMatchObject({
      code: 'invalid-action',
      remedy: expect.stringContaining('psr-select read-before-edit'),
    });
    const unknown = await denied(select('read-before-edits'));
    expect(unknown.denial.remedy).toContain('read-before-edit');
    await must(select('read-before-edit'));
    expect((await denied(select('read-before-edit'))).denial.message).toContain('selected already');
    const word = await denied(session.step({ tool: 'pur-update', args: ['read-before-edit', 'splendid'] }));
    expect(word.denial.remedy).toContain('success, partial, failed, pivoted, deferred');
    await must(session.step({ tool: 'pur-update', args: ['read-before-edit', 'deferred'] }));
    await must(session.step({ tool: 'pur-update', args: ['read-before-edit', 'failed'] }));
    const twice = await denied(session.step({ tool: 'pur-update', args: ['read-before-edit', 'success'] }));
    expect(twice.denial.message).toContain('recorded already: failed');
  });

  it('report a selection without an outcome in the review and at the close', async () => {
    const { session, toDiscipline, select, verdict } = await atWork();
    await must(toDiscipline());
    await must(select('test-after-change'));
    await must(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'look back' }));
    const { fruit } = await must(session.stop('done', { fruit: { suggestions: ['be brief'] } }));
    expect(fruit['par']).toMatchObject({
      open_selections: ['test-after-change'],
      what_could_improve: ['1 × pattern test-after-change: its outcome was not recorded'],
      suggestions: [expect.stringContaining('test-after-change'), 'be brief'],
    });
    const closed = await must(session.close('enough'));
    expect(closed.openSelections).toEqual(['test-after-change']);
    expect(closed.evidence[0]!.body).toMatchObject({ openSelections: ['test-after-change'] });
    expect((await verdict()).audit.violations).toEqual([]);
  });
});
