import { describe, expect, it } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { hashSpecs } from '../../src/spec/hash-specs.ts';
import { CONFIG, fixtureSpecs, lead, must, stage, TestClock } from './sessions.ts';

const minutes = { steps: null, minutes: 10 };
const { explore, edit, ...others } = fixtureSpecs.peripherals;
const limited = {
  ...fixtureSpecs,
  peripherals: { ...others, explore: { ...explore!, limits: minutes }, edit: { ...edit!, limits: minutes } },
};
const specs = { ...limited, hash: hashSpecs(limited) };

describe('a session whose clock is set back', () => {
  it.each([
    ['by hours', -600],
    ['by less than a millisecond', 0.4 / 60_000],
  ])('%s stays clean: deadlines and approvals begin at the time of their entries', async (_, change) => {
    const clock = new TestClock();
    const approve = async () => {
      clock.advance(change);
      return { by: 'ann' };
    };
    const { session, store } = await stage({ specs, clock, approver: { via: 'approver', approve } });
    await lead(session, 'explore');
    clock.advance(change);
    await must(session.step({ tool: 'read', args: ['src/a.ts'] }));
    await must(session.hop({ to: 'edit', reason: 'ready to edit' }));
    await must(session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
    const { violations } = await verifyConstraints({ specs, config: CONFIG }, store.entries(session.id));
    expect(violations).toEqual([]);
  });
});
