import { describe, expect, it, test } from 'vitest';
import { runChain } from '../../src/session/run-chain.ts';
import type { Session } from '../../src/session/session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { lead, stage, testRun } from './sessions.ts';

const EDN_SETS = ['001', '002'].map((name) => [name, `test/fixtures/specs/${name}`] as const);
const wire = (text: string) => JSON.parse(text) as Parameters<Session['hop']>[0];

/** A session under these specs in the peripheral, in a mode that allows every effect. */
async function inside(specs: string, peripheral: 'explore' | 'edit' | 'test', verdict: 'pass' | 'fail' = 'pass') {
  const { session } = await stage({ specs: await loadSpecs(specs), results: { 'bash-test': testRun(verdict) } });
  if (session.state.mode !== null) {
    await session.setMode({ to: 'diagnose' });
    await session.setMode({ to: 'execute' });
  }
  expect(await session.start('explore')).toMatchObject({ ok: true });
  await session.step({ tool: 'read', args: ['src/a.ts'] });
  if (peripheral === 'explore') return session;
  expect(await session.hop(wire('{"hop":"edit","reason":"found target file"}'))).toMatchObject({ ok: true });
  await session.step({ tool: 'edit', args: ['src/a.ts', 'a', 'b'] });
  if (peripheral === 'edit') return session;
  expect(await session.hop(wire('{"hop":"test","reason":"it is ready to commit"}'))).toMatchObject({ ok: true });
  await session.step({ tool: 'bash-test', args: ['npm test'] });
  return session;
}

describe.each([['the built-in specs', 'default'] as const, ...EDN_SETS])(
  'the short form of a hop with the spec set %s',
  (_, specs) => {
    it('takes the exit that the reason names', async () => {
      const session = await inside(specs, 'explore');
      expect(await session.hop(wire('{"hop":"edit","reason":"found target file"}'))).toMatchObject({
        ok: true,
        exit: 'found-target',
      });
    });

    it('accepts null in place of an omitted field, as strict JSON schemas demand', async () => {
      const session = await inside(specs, 'explore');
      const hop = wire('{"hop":"edit","reason":"found target file","exit":null,"fruit":null,"summary":null}');
      expect(await session.hop(hop)).toMatchObject({ ok: true, exit: 'found-target' });
    });

    it('lets the agent ask for reflect at a natural close', async () => {
      const session = await inside(specs, 'explore');
      const hop = wire('{"hop":"reflect","reason":"natural close point","summary":"completed feature X"}');
      expect(await session.hop(hop)).toMatchObject({
        ok: true,
        exit: 'hop-reflect',
        fruit: { summary: 'completed feature X' },
      });
    });

    it('never takes an exit that does not hold, whatever the reason names', async () => {
      const session = await inside(specs, 'test', 'fail');
      expect(await session.hop(wire('{"hop":"reflect","reason":"the tests did not pass"}'))).toMatchObject({
        ok: true,
      });
      expect((await session.evidence()).map(({ body }) => (body as { exit?: string }).exit)).not.toContain('pass');
    });
  },
);

describe('a hop without an exit', () => {
  it.each([
    ['edit', 'test', 'done with it', 'hop-test'],
    ['edit', 'test', 'tests pass', 'tests-pass'],
    ['edit', 'test', 'I believe it is READY to commit.', 'ready-to-commit'],
    ['edit', 'test', 'unready-to-commits', 'hop-test'],
    ['test', 'reflect', 'pass', 'pass'],
    ['test', 'reflect', 'all done', 'hop-reflect'],
  ] as const)('from %s to %s because "%s" leaves by %s', async (from, to, reason, exit) => {
    const session = await inside('default', from);
    expect(await session.hop({ to, reason })).toMatchObject({ ok: true, exit });
  });

  it('lists the candidates if the reason names none and there is no hop-<target>', async () => {
    const session = await inside('test/fixtures/specs/002', 'explore');
    expect(await session.hop({ to: 'edit', reason: 'it is time' })).toMatchObject({
      ok: false,
      denial: { code: 'exit-not-met', about: { candidates: ['found-target', 'ready-to-edit', 'user-request'] } },
    });
  });

  it('leaves by user-request for the operator, if the exit and the target allow that', async () => {
    const session = await inside('test/fixtures/specs/001', 'explore');
    await session.step({ tool: 'read', args: ['src/a.ts'] });
    const hop = { to: 'test', reason: 'run them now', by: 'operator' } as const;
    expect(await session.hop({ ...hop, by: 'agent' })).toMatchObject({ ok: false });
    expect(await session.hop(hop)).toMatchObject({ ok: false, denial: { code: 'missing-context' } });
    expect(await session.hop({ to: 'edit', reason: 'look there', by: 'operator' })).toMatchObject({
      ok: true,
      exit: 'user-request',
    });
  });
});

test('the links of a chain need no exit, only a reason', async () => {
  const { session } = await stage({ specs: await loadSpecs('test/fixtures/specs/001') });
  const chain = await runChain(session, [
    { peripheral: 'explore', actions: [{ tool: 'read', args: ['src/a.ts'] }], reason: 'found target' },
    {
      peripheral: 'edit',
      actions: [{ tool: 'edit', args: ['src/a.ts', 'a', 'b'] }],
      reason: 'ready to test',
      fruit: { 'ready-to-test?': true, 'commit-message': 'Fix it' },
    },
    { peripheral: 'test', actions: [{ tool: 'bash-test', args: ['npm test'] }], reason: 'tests pass' },
    { peripheral: 'deploy', actions: [], reason: 'nothing to ship' },
  ]);
  expect(chain).toMatchObject({ ok: true, fruits: [{}, { fruit: { 'ready-to-test': true } }, {}, {}] });
  const exits = (await session.evidence()).flatMap(({ body }) => {
    const { event, exit } = body as { event: string; exit: string };
    return event === 'hop' ? [exit] : [];
  });
  expect(exits).toEqual(['found-target', 'hop-test', 'pass']);
});

test('the short form of a hop may name the exit and state the summary that the peripheral yields', async () => {
  const { session } = await stage();
  await lead(session, 'explore');
  const hop = { hop: 'edit', exit: 'found-target', reason: 'found target file', summary: 'it is in src/a.ts' };
  expect(await session.hop(hop)).toMatchObject({ ok: true, fruit: { summary: 'it is in src/a.ts' } });
});

test('the short form of a hop accepts a fruit and ignores `by: operator`', async () => {
  const { session } = await stage();
  await lead(session, 'explore');
  const summary = 'it is in src/a.ts';
  const asked = { hop: 'edit', reason: 'found target file', fruit: { summary }, by: 'operator' } as const;
  expect(await session.hop(asked)).toMatchObject({ ok: true, fruit: { summary } });
  const [hop] = (await session.evidence()).filter(({ body }) => (body as { event: string }).event === 'hop');
  expect(hop?.body).toMatchObject({ by: 'agent' });
});
