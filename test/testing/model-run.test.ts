import { expect, it } from 'vitest';
import { replaceMethod } from '../../src/base/replace-method.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { SettableTestClock } from '../../src/testing/model/model-clock.ts';
import { makeModelConfig } from '../../src/testing/model/model-config.ts';
import { ModelRun } from '../../src/testing/model/model-run.ts';
import { RUNBOOK, specsOf } from './spec-sets.ts';

it('a model run fails if the store lacks an entry that it was given', async () => {
  const [specs, clock] = [specsOf(RUNBOOK), new SettableTestClock()];
  const kept = memoryStore({ clock });
  const store = replaceMethod(kept, 'entries', async function* (id, options) {
    const { seq } = await kept.head(id);
    for await (const stored of kept.entries(id, options)) if (stored.entry.seq < seq) yield stored;
  });
  const pinned = { specs, config: makeModelConfig(specs) };
  const run = await new ModelRun({ pinned, store, clock, agent: 'tester', root: '/repository' }).open();
  await run.make({ name: 'start.watch', asked: { kind: 'start', peripheral: 'watch', by: 'agent' } });
  await expect(run.finish()).rejects.toThrow('the store ends with entry 0, but entry 1 was stored');
});
