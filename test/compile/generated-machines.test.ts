import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { createActor } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { hopGraph } from '../../machines/hop-graph.machine.ts';
import { compileSpecs } from '../../src/compile/compile-specs.ts';
import { generateFiles } from '../../src/compile/generate-files.ts';
import { compareGeneratedFiles } from '../../src/compile/write-generated-files.ts';
import { pipelineDiagram } from '../../src/social/social-stages.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { facts } from './facts.ts';

const specs = await loadSpecs('default');
const files = {
  ...generateFiles(specs, { guardsImport: '../src/compile/index.ts' }),
  'social-pipeline.mmd': pipelineDiagram(),
};

it('machines/ is up to date with specs/ (else run `npm run generate`)', async () => {
  expect(await compareGeneratedFiles('machines', files)).toEqual({ missing: [], stale: [], extra: [] });
  expect((await readdir('machines')).sort()).toEqual(Object.keys(files).sort());
});

it('the generated machines equal those that a session compiles', async () => {
  expect(hopGraph.config).toEqual(compileSpecs(specs).hopGraph.config);
  expect(JSON.parse(await readFile('machines/hop-graph.json', 'utf8'))).toEqual(hopGraph.config);
});

it('an agent can reach every built-in peripheral if tests pass and the operator approves', () => {
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
  const reached = getShortestPaths(hopGraph, { events: events as never }).map(({ state }) => state.value);
  expect(new Set(reached)).toEqual(new Set(['outside', 'closed', ...Object.keys(specs.peripherals)]));
});

it('deploy can be reached only after a test pass', () => {
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

it('a misspelt event or tag, or a guarded event without facts, does not compile', () => {
  const actor = createActor(hopGraph).start();
  // @ts-expect-error: there is no such event.
  actor.send({ type: 'start.exlpore', facts: facts({ firstVisit: true }) });
  // @ts-expect-error: this event opens nothing without facts.
  actor.send({ type: 'start.explore' });
  expect(actor.getSnapshot().value).toBe('outside');
  actor.send({ type: 'start.explore', facts: facts({ firstVisit: true }) });
  const snapshot = actor.getSnapshot();
  expect([snapshot.value, snapshot.hasTag('grep'), snapshot.hasTag('write')]).toEqual(['explore', true, false]);
  // @ts-expect-error: there is no such tool.
  expect(snapshot.hasTag('gerp')).toBe(false);
  expect(snapshot.getMeta()['hop-graph.explore']).toMatchObject({ scope: { name: 'full-codebase', write: [] } });
});
