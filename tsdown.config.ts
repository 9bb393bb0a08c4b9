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
 * The program that client programs run for every hook. It is CommonJS with its few dependencies bundled, because that starts in half of the time of
 * modules that Node has to find in node_modules.
 */
const hook = defineConfig({
  entry: { main: 'src/daemon/hook/hook-main.ts' },
  outDir: 'dist/hook',
  format: 'cjs',
  platform: 'node',
  target: 'node22.13',
  dts: false,
  deps: {
    alwaysBundle: [/^(xstate|immer|zod|picomatch|canonicalize|fastest-levenshtein|uuid)(\/|$)/],
    onlyBundle: false,
  },
});

export default [library, hook];
