import { defineConfig } from 'tsdown';

export default defineConfig({
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
    hook: 'src/daemon/hook-main.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  dts: true,
  fixedExtension: false,
  // A copy of vitest in here would not be the one that runs the tests of `describeSpec`.
  deps: { neverBundle: ['vitest'] },
});
