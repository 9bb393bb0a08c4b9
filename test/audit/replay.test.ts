import { describe, expect, it } from 'vitest';
import { replay } from '../../src/session/replay.ts';
import { deriveEdges } from '../../src/spec/resolve/derive-edges.ts';
import type { PeripheralSpec, SpecSet } from '../../src/spec/types.ts';
import { CONFIG, fivePeripherals, SPECS, world } from './world.ts';

const withPeripheral = (id: string, fields: Partial<PeripheralSpec>): SpecSet => {
  const peripherals = { ...SPECS.peripherals, [id]: { ...SPECS.peripherals[id]!, ...fields } };
  return { ...SPECS, peripherals, edges: deriveEdges(peripherals) };
};

const at = await world();
await fivePeripherals(at);
const again = (specs: SpecSet, config = CONFIG) =>
  replay({ specs: SPECS, config: CONFIG }, { specs, config }, at.session.id, at.store.entries(at.session.id));
const told = async (specs: SpecSet, config = CONFIG) =>
  (await again(specs, config)).changes.map(({ request, was, now }) => `${request}: ${was} → ${now}`);

describe('decisions taken again', () => {
  it('turn out the same under the same spec', async () => {
    expect(await again(SPECS)).toMatchObject({ decisions: 23, changes: [], drift: [] });
  });

  it('show what a narrower scope would refuse', async () => {
    const edit = SPECS.peripherals['edit']!;
    const specs = withPeripheral('edit', { scope: { ...edit.scope, rule: { ...edit.scope.rule, write: ['docs'] } } });
    expect(await told(specs)).toEqual(['step edit b a ./src/a.ts: allow → out-of-scope']);
  });

  it('show what a wider scope would let through', async () => {
    const edit = SPECS.peripherals['edit']!;
    const specs = withPeripheral('edit', { scope: { ...edit.scope, rule: { ...edit.scope.rule, write: ['.'] } } });
    expect(await told(specs)).toEqual(['step write  specs/x: out-of-scope → allow']);
  });

  it('show a tool that is gone, an edge that is gone, a peripheral that is gone', async () => {
    expect(await told(withPeripheral('explore', { tools: ['read'] }))).toEqual([
      'step grep src x: allow → tool-not-allowed',
    ]);
    expect(await told(withPeripheral('deploy', { exits: [] }))).toEqual([
      'hop to reflect (deployed): allow → hop-not-allowed',
    ]);
    const { deploy: _, ...peripherals } = SPECS.peripherals;
    const changes = await told({ ...SPECS, peripherals, edges: deriveEdges(peripherals) });
    expect(changes).toContain('step bash-git push: allow → no-peripheral');
    expect(changes).toContain('hop to deploy (pass): allow → hop-not-allowed');
  });

  it('show an approval that would be needed, and count those that were given', async () => {
    const specs = withPeripheral('explore', { gates: { edit: [{ kind: 'approval', by: 'operator' }] } });
    expect(await told(specs)).toEqual(['hop to edit (ready-to-edit): allow → approval-required']);
    expect(await told(withPeripheral('test', { gates: {} }))).toEqual([]);
  });

  it('show what another configuration would refuse', async () => {
    expect(await told(SPECS, { ...CONFIG, mask: ['src/'] })).toEqual([
      'step grep src x: allow → out-of-scope',
      'step read src/a.ts: allow → out-of-scope',
      'step edit b a ./src/a.ts: allow → out-of-scope',
      'step read src/a.ts: allow → out-of-scope',
    ]);
  });
});
