import { defineConfig } from 'vitest/config';

/** The tests that hold gate/, compile/ and evidence/ in the narrow: quick, and without a sandbox. */
export default defineConfig({
  test: {
    include: [
      'test/{gate,compile,evidence}/**/*.test.ts',
      'test/session/{denials,facts,loop,odd-input,wire-hop}.test.ts',
      'test/audit/{verify-constraints,judges}.test.ts',
    ],
    // It runs the type checker.
    exclude: ['test/compile/generate-files.test.ts'],
    testTimeout: 120_000,
  },
});
