import { defineConfig } from 'tsdown';

const library = defineConfig({
  entry: {
    index: 'src/index.ts',
    testing: 'src/testing/index.ts',
    inspect: 'src/cli/inspect/index.ts',
    adapters: 'src/adapters/core/index.ts',
    'adapters/ai-sdk': 'src/adapters/ai-sdk.ts',
    'adapters/claude-agent-sdk': 'src/adapters/claude-agent-sdk.ts',
    'adapters/codex': 'src/adapters/codex/index.ts',
    'adapters/langchain': 'src/adapters/langchain.ts',
    'adapters/mcp': 'src/adapters/mcp/index.ts',
    'adapters/openai-agents': 'src/adapters/openai-agents.ts',
    'adapters/plain-loop': 'src/adapters/plain-loop.ts',
    cli: 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  dts: true,
  fixedExtension: false,
  // A copy of vitest in here would not be the one that runs the tests of `describeSpec`.
  deps: { neverBundle: ['vitest'] },
});

/**
 * The program that client programs run for every hook: what it loads is what the user waits for. CommonJS with its few dependencies inside starts
 * in a fraction of the time; what a hook seldom needs stays in chunks, or outside, until it is asked for.
 */
const hook = defineConfig({
  entry: { main: 'src/daemon/hook-main.ts' },
  outDir: 'dist/hook',
  format: 'cjs',
  platform: 'node',
  target: 'node22.13',
  dts: false,
  // Half of the text is half of the time to read it. Names stay: a fault that is told of must be found.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  // What every hook needs without a daemon is one file: each more costs two searches, two reads and a look into the compile cache.
  outputOptions: {
    codeSplitting: {
      groups: [
        // What runs before the compile cache is on.
        { name: 'asking', test: /\/src\/daemon\/(state-home|own-files|framed)\.ts$/, priority: 1 },
        {
          name: 'alone',
          test: /\/src\/(daemon\/(answer-hook|host)|adapters\/claude-code\/hooks|gate\/decide-step)\.ts$/,
        },
      ],
    },
  },
  deps: {
    alwaysBundle: [/^(xstate|immer|zod|picomatch|canonicalize|fastest-levenshtein|uuid)(\/|$)/],
    onlyBundle: false,
  },
});

export default [library, hook];
