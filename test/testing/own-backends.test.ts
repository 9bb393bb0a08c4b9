import { expect, it } from 'vitest';
import type { ToolBackend, ToolReport } from '../../src/ports/tool-backend.ts';
import { generateTests } from '../../src/testing/generate-tests.ts';
import { isDeep } from '../depth.ts';
import { RUNBOOK, specsOf } from './spec-sets.ts';

const ANSWERS: { readonly [what: string]: ToolReport['outcome'] } = {
  'answers always': { status: 'ok', result: { path: 'README.md', text: 'hello' } },
  'refuses always': { status: 'refused', code: 'out-of-scope', message: 'not here', remedy: 'elsewhere' },
};

it.runIf(isDeep).each(Object.entries(ANSWERS))(
  'a user’s own backend that %s for one tool passes; the other tools stay stubs',
  async (_what, outcome) => {
    let calls = 0;
    const mine: ToolBackend = {
      name: 'mine',
      tools: ['read'],
      run: async () => {
        calls += 1;
        return { outcome, effects: [] };
      },
    };
    const { tests } = await generateTests(specsOf(RUNBOOK), { backends: [mine], crashes: false });
    for (const { run } of tests) await run();
    expect(calls).toBeGreaterThan(0);
  },
  120_000,
);
