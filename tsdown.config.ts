import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: { index: 'src/index.ts', testing: 'src/testing/index.ts', cli: 'src/cli/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  dts: true,
  fixedExtension: false,
  // A copy of vitest in here would not be the one that runs the tests of `describeSpec`.
  deps: { neverBundle: ['vitest'] },
});
