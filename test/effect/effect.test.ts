import { describe, expect, it } from 'vitest';
import { memoise } from '../../src/base/lazy.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { isDeep } from '../depth.ts';
import { Engine } from './engine.ts';
import { measureHouseAblations } from './measure-house.ts';
import { measureAll, PAGE, pageWith } from './page.ts';
import { CONDITIONS, runAgent } from './repository-agent.ts';

/** The measurements of the page, made once for all deep tests. */
const measured = memoise(() => measureAll());
const isSome = (share: number) => share > 0;

describe('a simulated agent', () => {
  it('that never errs and knows the graph is refused nothing', async () => {
    const engine = new Engine(await loadSpecs('specs'));
    const run = await runAgent(engine, {
      condition: 'teaching denial + graph',
      lapse: 0,
      kind: 'any act',
      random: () => 0,
    });
    engine.close();
    expect(run).toMatchObject({ solved: true, refused: 0, wroteOutside: false, shippedUntested: false });
  });

  it.runIf(isDeep)(
    'in the household writes or peeks only with a tool that does so, and claims a false win only if the exit needs no win',
    async () => {
      const rows = await measureHouseAblations(60);
      const row = (start: string) => rows.find(({ condition }) => condition.includes(start))!;
      expect(row('as they are')).toMatchObject({ wroteOutside: 0, peeked: 0 });
      expect(row('tool that writes')).toMatchObject({ wroteOutside: expect.toSatisfy(isSome), peeked: 0 });
      expect(row('tool that reads')).toMatchObject({ wroteOutside: 0, peeked: expect.toSatisfy(isSome) });
      expect(row('as they are').claimedFalsely).toBeGreaterThan(0);
      expect(row('needs a win').claimedFalsely).toBe(0);
    },
  );

  it.runIf(isDeep)('that errs does no harm inside a peripheral, and solves more with better remedies', async () => {
    const { conditions: rows } = await measured();
    for (const lapse of new Set(rows.map((row) => row.lapse))) {
      const [free, list, generic, teaching, graph] = CONDITIONS.map(
        (condition) => rows.find((row) => row.condition === condition && row.lapse === lapse)!,
      );
      for (const inside of [list!, generic!, teaching!, graph!])
        expect([inside.wroteOutside, inside.shippedUntested, inside.shippedBroken]).toEqual([0, 0, 0]);
      expect(free!.shippedBroken).toBeGreaterThan(0);
      expect(teaching!.solved).toBeGreaterThan(Math.max(list!.solved, generic!.solved));
      expect(graph!.calls).toBeLessThan(teaching!.calls);
    }
  });

  it.runIf(isDeep)('does harm without the constraint that prevents it', async () => {
    const { ablations: rows } = await measured();
    const harm = (dropped: string) =>
      rows.filter((row) => row.condition.startsWith(dropped)).map((row) => row.wroteOutside + row.shippedUntested);
    expect(Math.max(...harm('nothing'))).toBe(0);
    expect(Math.min(...harm('edit stays in its scope'))).toBeGreaterThan(0);
    expect(Math.max(...harm('deploy needs passing tests'))).toBeGreaterThan(0);
  });

  it.runIf(isDeep)(`gives the numbers on the page (rewrite: npm run does-it-help)`, async () => {
    await expect(pageWith(await measured())).toMatchFileSnapshot(`../../${PAGE}`);
  });
});
