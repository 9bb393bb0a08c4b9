import { defineConfig } from 'vitest/config';

/** The suite that runs the real client programs: `npm run test:clients`. One at a time, because each is large. */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    globalSetup: ['test/run-folder.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
