import { defineConfig } from 'vitest/config';

/** The quick tests of each part, without a sandbox, because they run thousands of times. */
const TESTS: { readonly [part: string]: readonly string[] } = {
  gate: ['test/gate/**/*.test.ts', 'test/session/{denials,facts,loop,short-hop}.test.ts'],
  // Leaves out two tests that take seconds: the type checker, and the gate against the machines.
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
    globalSetup: ['test/run-folder.ts'],
    setupFiles: ['test/mutation/few-runs.ts'],
  },
});
