import { readdirSync } from 'node:fs';
import { defineConfig } from 'tsdown';

/** The generated machines, by their place in the package: `machines/hop-graph`. */
const machines = Object.fromEntries(
  readdirSync('machines')
    .filter((file) => file.endsWith('.machine.ts'))
    .map((file) => [`machines/${file.slice(0, -'.machine.ts'.length)}`, `machines/${file}`]),
);

const library = defineConfig({
  entry: {
    index: 'src/index.ts',
    testing: 'src/testing/index.ts',
    inspect: 'src/cli/inspect/index.ts',
    machines: 'src/compile/index.ts',
    ...machines,
    telemetry: 'src/telemetry/index.ts',
    world: 'src/world/index.ts',
    adapters: 'src/adapters/core/index.ts',
    'adapters/ai-sdk': 'src/adapters/ai-sdk.ts',
    'adapters/claude-agent-sdk': 'src/adapters/claude-agent-sdk.ts',
    'adapters/codex': 'src/adapters/codex/index.ts',
    'adapters/langchain': 'src/adapters/langchain.ts',
    'adapters/mcp': 'src/adapters/mcp/index.ts',
    'adapters/openai-agents': 'src/adapters/openai-agents.ts',
    'adapters/plain-loop': 'src/adapters/plain-loop.ts',
    'adapters/text-turns': 'src/adapters/text-turns.ts',
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
 * The program that client programs run for every hook. It is CommonJS with its few dependencies bundled, because that
 * starts in half of the time of modules that Node must find in node_modules. Without a daemon, reading and compiling its
 * text is a large part of each call, so it is minified.
 */
const hook = defineConfig({
  // An answer is an entry, too, because other files then export a getter for each name, and its names are many.
  entry: { main: 'src/daemon/hook/hook-main.ts', answer: 'src/daemon/hook/answer-hook.ts' },
  outDir: 'dist/hook',
  format: 'cjs',
  platform: 'node',
  target: 'node22.13',
  dts: false,
  minify: true,
  inputOptions: { preserveEntrySignatures: 'allow-extension' },
  outputOptions: {
    entryFileNames: ({ name }) => (name === 'main' ? 'main.cjs' : '[name]-[hash].cjs'),
    // One character outside of ASCII doubles the memory of a file's text, and the time to read it.
    charset: 'ascii',
    codeSplitting: {
      groups: [
        // Enough to ask the daemon: the entry file itself.
        { name: 'main', test: /\/daemon\/(hook\/hook-(main|process)|package-files|daemon-folder)\.ts$/, priority: 1 },
        // An answer to Claude Code without the daemon: one file is read faster than forty.
        { name: 'answer', test: /\/(hook\/answer-hook|daemon\/session-host|claude-code\/handle-claude-event)\.ts$/ },
      ],
    },
  },
  deps: {
    alwaysBundle: [/^(xstate|zod|picomatch|canonicalize|fastest-levenshtein|uuid)(\/|$)/],
    onlyBundle: false,
  },
});

/** The page of the live view: one file that a browser runs, with its style inside. */
const page = defineConfig({
  name: 'page',
  entry: { page: 'src/page/main.tsx' },
  outDir: 'dist/page',
  format: 'esm',
  platform: 'browser',
  target: 'es2024',
  minify: true,
  dts: false,
  tsconfig: 'src/page/tsconfig.json',
  deps: { alwaysBundle: [/^(preact|@preact)(\/|$)/] },
});

export default [library, hook, page];
