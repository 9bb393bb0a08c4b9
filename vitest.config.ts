import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The files that try more in `npm run test:deep` than in `npm test`; they import test/depth.ts. */
const DEEP = globSync('test/**/*.test.ts').filter((file) => /\/depth\.ts'/.test(readFileSync(file, 'utf8')));

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'deep' ? DEEP : ['test/**/*.test.ts'],
    exclude: ['test/clients/**'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One worker for each core; the default leaves one idle.
    maxWorkers: '100%',
    // Files share the modules of their worker: to load them for each file takes longer than most files run.
    isolate: false,
    // Programs that tests start take their compiled modules from here.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/hopgate-tests'),
      ...(mode === 'deep' ? { HOPGATE_DEEP: '1' } : {}),
    },
  },
}));
