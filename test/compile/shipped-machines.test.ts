import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { getShortestPaths } from 'xstate/graph';
import { hopGraph } from '../../machines/hop-graph.machine.ts';
import { compileSpecs } from '../../src/compile/compile-specs.ts';
import { generateFiles } from '../../src/compile/generate-files.ts';
import { checkGenerated } from '../../src/compile/generated-files.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { facts } from './facts.ts';

const specs = await loadSpecs('default');
const files = generateFiles(specs, { guardsImport: '../src/compile/guards.ts' });

it('finds machines/ up to date with specs/ (else run `npm run generate`)', async () => {
  expect(await checkGenerated('machines', files)).toEqual({ missing: [], stale: [], extra: [] });
  expect((await readdir('machines')).sort()).toEqual(Object.keys(files).sort());
});

it('ships the very machine that a session compiles', async () => {
  expect(hopGraph.config).toEqual(compileSpecs(specs).hopGraph.config);
  expect(JSON.parse(await readFile('machines/hop-graph.json', 'utf8'))).toEqual(hopGraph.config);
});

it('lets an agent reach every shipped peripheral, if tests pass and the operator approves', () => {
  const events = hopGraph.events.flatMap((type) =>
    ['pass', 'fail'].flatMap((result) =>
      [null, ...Object.keys(specs.peripherals)].map((source) => ({
        type,
        facts: facts({
          source,
          firstVisit: source === null,
          naturalClose: true,
          approved: true,
          fruit: { result },
          conditions: { 'tests-passed': true },
        }),
      })),
    ),
  );
  const reached = getShortestPaths(hopGraph, { events }).map(({ state }) => state.value);
  expect(new Set(reached)).toEqual(new Set(['outside', 'closed', ...Object.keys(specs.peripherals)]));
});

it('opens deploy by a pass alone', () => {
  const ways = Object.entries(hopGraph.config.states ?? {}).flatMap(([state, { on = {} }]) =>
    Object.entries(on as { [event: string]: { target: string } }).map(([event, { target }]) => ({
      state,
      event,
      target,
    })),
  );
  expect(ways.filter(({ target }) => target === 'deploy')).toEqual([
    { state: 'test', event: 'pass.deploy', target: 'deploy' },
  ]);
});
