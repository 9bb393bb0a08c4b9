import { expect, it } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify-constraints.ts';
import { fivePeripherals, world } from './world.ts';

it('finds a session through all five peripherals clean', async () => {
  const at = await world();
  await fivePeripherals(at);
  const verdict = await verifyConstraints(at, at.store.entries(at.session.id));
  expect(verdict.violations).toEqual([]);
  expect(verdict.gaps).toEqual([]);
  expect(verdict.counts).toMatchObject({ visits: 5, hops: 4, approvals: 2, denials: 4 });
});
