import { afterEach, describe, expect, it, vi } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { SessionReader } from '../../src/server/session-reader.ts';
import { CONFIG, must, specsOf, stage } from './sessions.ts';

const limits = 'limits: { seconds: 5, output-bytes: 100 }';
const SPECS = specsOf({
  'tools.yaml': `tools:
  look: { purpose: Looks., effect: observe, parameters: [], ${limits} }
  pay: { purpose: Pays., effect: act, parameters: [], ${limits}, gates: [{ approval: operator }] }
`,
  'gate.yaml': `initial: talk
modes: { talk: { effects: [coordinate] }, work: { effects: [observe, act] } }
transitions: [{ from: talk, to: work }]
reset: talk
timeout-minutes: 30
`,
  'scopes.yaml': 'scopes:\n  talk: { read: none, write: [], command: none, url: none }\n',
  'peripherals/desk.yaml': `id: desk
purpose: Work.
tools: [look, pay]
scope: talk
entry: [default, from-short]
exit: { quick: short }
`,
  'peripherals/short.yaml': `id: short
purpose: Work for a short time.
tools: [look]
scope: talk
entry: from-desk
exit: { back: desk }
limits: { steps: 2, minutes: 10 }
`,
});
const look = { tool: 'look' };
const pay = { tool: 'pay' };

afterEach(() => vi.useRealTimers());

async function atDesk(options: Parameters<typeof stage>[0] = {}) {
  const at = await stage({ specs: SPECS, ...options });
  await must(at.session.setMode({ to: 'work' }));
  await must(at.session.start('desk'));
  return at;
}

/** The code of each answer about a call: of the dry runs, of a reader of the evidence, and of the call itself. */
async function answersTo({ session, store, clock }: Awaited<ReturnType<typeof atDesk>>, call: typeof look) {
  vi.useFakeTimers({ now: clock.now(), toFake: ['Date'] });
  const reader = await SessionReader.open({ store, stateDir: '/nowhere' }, session.id);
  const dry = [
    session.why(call),
    session.wouldRefuse(call),
    await session.whyMove({ step: call }),
    reader.why({ kind: 'step', ...call, args: {} }),
  ];
  const offered = [session.available(), reader.available].map(({ tools }) => tools.includes(call.tool));
  const real = await session.step(call);
  return { dry: dry.map((denial) => denial?.code), offered, real: real.ok ? undefined : real.denial.code };
}
const all = (code: string | undefined, isOffered = code === undefined) => ({
  dry: Array(4).fill(code),
  offered: [isOffered, isOffered],
  real: code,
});

describe('the dry runs, the offered tools and the call itself', () => {
  it('agree after the timeout of the mode', async () => {
    const at = await atDesk();
    at.clock.advance(31);
    expect(at.session.state.mode).toBe('talk');
    expect(await answersTo(at, look)).toEqual(all('mode-forbids'));
  });

  it('agree at the limits of the visit', async () => {
    const at = await atDesk();
    await must(at.session.hop({ to: 'short', reason: 'quick' }));
    expect(await answersTo(at, look)).toEqual(all(undefined));
    expect(await answersTo(at, look)).toEqual(all(undefined));
    expect(await answersTo(at, look)).toEqual(all('limit-reached'));
    await must(at.session.hop({ to: 'desk', reason: 'back' }));
    await must(at.session.hop({ to: 'short', reason: 'quick' }));
    at.clock.advance(10);
    expect(await answersTo(at, look)).toEqual(all('limit-reached'));
  });

  it('agree under a grant', async () => {
    const at = await atDesk({
      approver: { via: 'terminal', approve: async () => ({ by: 'ann', grant: { until: 8e15, uses: 2 } }) },
    });
    expect(at.session.why(pay)?.code).toBe('approval-required');
    await must(at.session.step(pay));
    expect(await answersTo(at, pay)).toEqual(all(undefined));
    expect(at.session.why(pay)?.code).toBe('approval-required');
  });
});

it('an interrupted call does not delay the timeout of the mode', async () => {
  const { session, clock, store, reopen } = await atDesk({ results: { pay: () => new Promise<never>(() => {}) } });
  void session.step(pay);
  await expect.poll(async () => (await session.evidence()).at(-1)?.body).toMatchObject({ event: 'intent' });
  clock.advance(31);
  const resumed = await reopen();
  expect(await resumed.step(look)).toMatchObject({ ok: false, denial: { code: 'mode-forbids' } });
  expect(await verifyConstraints({ specs: SPECS, config: CONFIG }, store.entries(session.id))).toMatchObject({
    ok: true,
    violations: [],
  });
});
