import { defineConfig } from 'vitest/config';

/** Which tests hold which part, in the narrow: quick ones without a sandbox, as they are run thousands of times. */
const TESTS: { readonly [part: string]: readonly string[] } = {
  gate: ['test/gate/**/*.test.ts', 'test/session/{denials,facts,loop,wire-hop}.test.ts'],
  // What takes seconds each time: the type checker, and the gate beside the machines (agreement.test.ts holds them to the spec).
  compile: ['test/compile/**/!(generate-files|gate-agreement).test.ts'],
  evidence: [
    'test/evidence/**/*.test.ts',
    'test/audit/judges.test.ts',
    'test/audit/inhabitation/{transcript,demands}.test.ts',
  ],
};
const part = process.env['MUTATED'] ?? '';

export default defineConfig({
  test: {
    include: [...(TESTS[part] ?? Object.values(TESTS).flat())],
    testTimeout: 120_000,
    isolate: false,
    setupFiles: ['test/mutation/few-runs.ts'],
  },
});
