import { expect, it } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import type { ToolCall } from '../../src/ports/tool-backend.ts';
import { hashSpecs } from '../../src/spec/hash-specs.ts';
import { deriveEdges } from '../../src/spec/resolve/derive-edges.ts';
import type { PeripheralSpec, SpecSet } from '../../src/spec/types.ts';
import { answering, fivePeripherals, SPECS, world } from './audited-session.ts';

it('verifyConstraints accepts a session through all five peripherals', async () => {
  const at = await world();
  await fivePeripherals(at);
  const result = await verifyConstraints(at, at.store.entries(at.session.id));
  expect(result.violations).toEqual([]);
  expect(result.gaps).toEqual([]);
  expect(result.counts).toMatchObject({ visits: 5, hops: 4, approvals: 2, denials: 4 });
});

it('verifyConstraints accepts test runs in a peripheral where they do not count', async () => {
  const { edit } = SPECS.peripherals as { [id: string]: PeripheralSpec };
  const result = { kind: 'observed', type: 'string', from: 'result' };
  const fruit = { ...edit!.fruit, result } as PeripheralSpec['fruit'];
  const peripherals = {
    ...SPECS.peripherals,
    edit: { ...edit!, tools: [...edit!.tools, 'bash-test'], fruit },
  };
  const specs: SpecSet = { ...SPECS, peripherals };
  const at = await world({ specs: { ...specs, hash: hashSpecs(specs) } });
  const { session } = at;
  await session.start('explore');
  await session.setMode({ to: 'diagnose' });
  await session.step({ tool: 'read', args: ['src/a.ts'] });
  await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'r' });
  await session.setMode({ to: 'execute' });
  expect(await session.step({ tool: 'bash-test' })).toMatchObject({ ok: true, result: { verdict: 'pass' } });
  await session.hop({ to: 'test', exit: 'hop-test', reason: 'r', fruit: { 'commit-message': 'm' } });
  expect(session.state.peripheral).toBe('test');
  expect(await session.hop({ to: 'deploy', exit: 'pass', reason: 'it passed in edit' })).toMatchObject({
    denial: { code: 'exit-not-met' },
  });
  await session.stop('enough');
  await session.close();
  const { violations } = await verifyConstraints(at, at.store.entries(session.id));
  expect(violations).toEqual([]);
});

it('verifyConstraints counts the changed files of the evidence, not those in the context of a start', async () => {
  const { explore } = SPECS.peripherals as { [id: string]: PeripheralSpec };
  const when = 'size(backpack.changed_files) == 0';
  const exits = explore!.exits.map((exit) => ({ ...exit, opens: exit.opens.map((open) => ({ ...open, when })) }));
  const peripherals = { ...SPECS.peripherals, explore: { ...explore!, tools: [...explore!.tools, 'bash'], exits } };
  const specs: SpecSet = { ...SPECS, peripherals, edges: deriveEdges(peripherals) };
  const usual = answering();
  const backend = {
    ...usual,
    run: async (call: ToolCall) => ({ ...(await usual.run(call)), effects: 'unobserved' as const }),
  };
  const at = await world({ specs: { ...specs, hash: hashSpecs(specs) }, backend });
  const { session } = at;
  await session.start('explore', { context: { 'changed-files': 'none' } });
  await session.setMode({ to: 'diagnose' });
  await session.setMode({ to: 'execute' });
  expect(await session.step({ tool: 'bash', args: { command: 'true' } })).toMatchObject({ ok: true });
  expect(await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'r' })).toMatchObject({ ok: true });
  expect((await verifyConstraints(at, at.store.entries(session.id))).violations).toEqual([]);
});
