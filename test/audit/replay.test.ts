import { describe, expect, it } from 'vitest';
import type { SessionPin } from '../../src/session/pin.ts';
import { replayDecisions } from '../../src/session/replay-decisions.ts';
import { deriveEdges } from '../../src/spec/resolve/derive-edges.ts';
import type { PeripheralSpec, SpecSet } from '../../src/spec/types.ts';
import { CONFIG, fivePeripherals, SPECS, world } from './audited-session.ts';

const withPeripheral = (id: string, fields: Partial<PeripheralSpec>): SpecSet => {
  const peripherals = { ...SPECS.peripherals, [id]: { ...SPECS.peripherals[id]!, ...fields } };
  return { ...SPECS, peripherals, edges: deriveEdges(peripherals) };
};

const at = await world();
await fivePeripherals(at);
const again = (specs: SpecSet, config = CONFIG) =>
  replayDecisions({ specs: SPECS, config: CONFIG }, { specs, config }, at.session.id, at.store.entries(at.session.id));
const changedDecisions = async (specs: SpecSet, config = CONFIG) =>
  (await again(specs, config)).changes.map(({ request, was, now }) => `${request}: ${was} → ${now}`);

describe('a replay of old decisions', () => {
  it('gives the same results under the same spec', async () => {
    expect(await again(SPECS)).toMatchObject({ decisions: 23, changes: [], drift: [] });
  });

  it('shows what a narrower scope would refuse', async () => {
    const edit = SPECS.peripherals['edit']!;
    const specs = withPeripheral('edit', { scope: { ...edit.scope, rule: { ...edit.scope.rule, write: ['docs'] } } });
    expect(await changedDecisions(specs)).toEqual(['step edit b a ./src/a.ts: allow → out-of-scope']);
  });

  it('shows what a wider scope would allow', async () => {
    const edit = SPECS.peripherals['edit']!;
    const specs = withPeripheral('edit', { scope: { ...edit.scope, rule: { ...edit.scope.rule, write: ['.'] } } });
    expect(await changedDecisions(specs)).toEqual(['step write  specs/x: out-of-scope → allow']);
  });

  it('shows a removed tool, a removed edge and a removed peripheral', async () => {
    expect(await changedDecisions(withPeripheral('explore', { tools: ['read'] }))).toEqual([
      'step grep src x: allow → tool-not-allowed',
    ]);
    expect(await changedDecisions(withPeripheral('deploy', { exits: [] }))).toEqual([
      'hop to reflect (deployed): allow → hop-not-allowed',
    ]);
    const { deploy: _, ...peripherals } = SPECS.peripherals;
    const changes = await changedDecisions({ ...SPECS, peripherals, edges: deriveEdges(peripherals) });
    expect(changes).toContain('step bash-git push: allow → no-peripheral');
    expect(changes).toContain('hop to deploy (pass): allow → hop-not-allowed');
  });

  it('shows which approvals would be needed, and counts the given ones', async () => {
    const specs = withPeripheral('explore', { gates: { edit: [{ kind: 'approval', by: 'operator' }] } });
    expect(await changedDecisions(specs)).toEqual(['hop to edit (ready-to-edit): allow → approval-required']);
    expect(await changedDecisions(withPeripheral('test', { gates: {} }))).toEqual([]);
  });

  it('shows what another configuration would refuse', async () => {
    expect(await changedDecisions(SPECS, { ...CONFIG, mask: ['src/'] })).toEqual([
      'step grep src x: allow → out-of-scope',
      'step read src/a.ts: allow → out-of-scope',
      'step edit b a ./src/a.ts: allow → out-of-scope',
      'step read src/a.ts: allow → out-of-scope',
    ]);
  });

  it('counts only test runs that another configuration requires', async () => {
    const [first] = CONFIG.test;
    const deploys = ['hop to deploy (pass): allow → exit-not-met'];
    const run = (...words: string[]) => ({ ...first!, run: words });
    expect(await changedDecisions(SPECS, { ...CONFIG, test: [first!, run('make', 'lint')] })).toEqual(deploys);
    expect(await changedDecisions(SPECS, { ...CONFIG, test: [run('make', 'lint')] })).toEqual(deploys);
    expect(await changedDecisions(SPECS, { ...CONFIG, test: [{ ...first!, minutes: 5 }] })).toEqual([]);
  });

  it('shows what shorter and longer time limits would refuse and allow', async () => {
    const limited = withPeripheral('explore', { limits: { steps: null, minutes: 30 } });
    const { session, store, pass } = await world({ specs: limited });
    const minutes = (count: number) => pass(count * 60_000);
    await session.setMode({ to: 'diagnose' });
    await session.start('explore');
    minutes(10);
    await session.step({ tool: 'grep', args: ['x'] });
    minutes(25);
    await session.step({ tool: 'grep', args: ['x'] });
    await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'r' });
    await session.setMode({ to: 'execute' });
    minutes(20);
    await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } });
    const under = async (specs: SpecSet) => {
      const pins = [limited, specs].map((of) => ({ specs: of, config: CONFIG })) as [SessionPin, SessionPin];
      const { changes, drift } = await replayDecisions(...pins, session.id, store.entries(session.id));
      expect(drift).toEqual([]);
      return changes.map(({ request, was, now }) => `${request}: ${was} → ${now}`);
    };
    const exploreFor = (minutes: number | null) => withPeripheral('explore', { limits: { steps: null, minutes } });
    expect(await under(limited)).toEqual([]);
    expect(await under(exploreFor(5))).toEqual(['step grep x: allow → limit-reached']);
    expect(await under(exploreFor(null))).toEqual(['step grep x: limit-reached → allow']);
    const idle = (timeoutMinutes: number) => ({ ...limited, modeGate: { ...limited.modeGate!, timeoutMinutes } });
    expect(await under(idle(15))).toEqual(['step edit b a src/a.ts: allow → mode-forbids']);
    expect(await under(idle(21))).toEqual([]);
  });

  it('judges a large argument, which is stored as a blob, by a rule of the other specs', async () => {
    const long = await world();
    await long.session.setMode({ to: 'diagnose' });
    await long.session.start('explore');
    const { session, store } = long;
    await session.step({ tool: 'grep', args: ['x'.repeat(100_000)] });
    await session.step({ tool: 'grep', args: ['x'] });
    const specs = withPeripheral('explore', { calls: { grep: [{ kind: 'when', cel: 'size(args.pattern) < 1000' }] } });
    const pinned = { specs: SPECS, config: CONFIG };
    const getBlob = (hash: string) => store.getBlob(hash);
    const { changes } = await replayDecisions(
      pinned,
      { specs, config: CONFIG },
      session.id,
      store.entries(session.id),
      getBlob,
    );
    expect(changes.map(({ was, now }) => `${was} → ${now}`)).toEqual(['allow → condition-failed']);
    expect((await replayDecisions(pinned, pinned, session.id, store.entries(session.id), getBlob)).drift).toEqual([]);
  });
});
