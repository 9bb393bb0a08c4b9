import { join } from 'node:path';
import { defineConfig, type Rolldown } from 'tsdown';

type Plugin = Rolldown.Plugin;

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

const roots = {
  asking: /\/src\/daemon\/hook-process\.ts$/,
  alone: /\/src\/(daemon\/(answer-hook|host)|adapters\/claude-code\/hooks|gate\/decide-step)\.ts$/,
};
const ENTRY = /\/src\/daemon\/hook-main\.ts$/;

type InfoOf = (id: string) => { readonly importers: readonly string[] } | null;

/** The chunk of a module: that of the first root from which it is reached without a dynamic import. null: of its own. */
function chunkOf(id: string, infoOf: InfoOf): string | null {
  const above = new Set<string>();
  const climb = (at: string): void => {
    if (above.has(at)) return;
    above.add(at);
    for (const importer of infoOf(at)?.importers ?? []) climb(importer);
  };
  climb(id);
  const isBelow = (root: RegExp) => [...above].some((at) => root.test(at));
  if (isBelow(ENTRY)) return null;
  return isBelow(roots.asking) ? 'asking' : isBelow(roots.alone) ? 'alone' : null;
}

const RUNTIME = /const (\w+)=require\("\.\/(rolldown-runtime-[\w-]+\.cjs)"\)/;

/** Puts the bundler's few helpers into the file itself; and ASCII alone is read byte by byte. */
const inOneFile: Plugin = {
  name: 'in-one-file',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const [statement, name, file = ''] = RUNTIME.exec(chunk.code) ?? [];
      const runtime = bundle[file];
      if (statement && runtime?.type === 'chunk')
        chunk.code = chunk.code.replace(
          statement,
          () => `const ${name}=(exports=>{${runtime.code.trim()};return exports})({})`,
        );
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

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
  plugins: [inOneFile],
  // Loading Node's own takes a fourth of the time in which Node starts.
  alias: {
    'node:crypto': join(import.meta.dirname, 'src/daemon/light-crypto.ts'),
    'node:module': join(import.meta.dirname, 'src/daemon/light-node.ts'),
    'node:os': join(import.meta.dirname, 'src/daemon/light-node.ts'),
  },
  // Half of the text is half of the time to read it. Names stay: a fault that is told of must be found.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  // What every hook needs without a daemon is one file beside the entry: each more costs two searches, two reads and a look into the compile cache.
  outputOptions: {
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: (id, context) => chunkOf(id, (id) => context.getModuleInfo(id)) }],
    },
  },
  deps: {
    alwaysBundle: [/^(xstate|immer|zod|picomatch|canonicalize|fastest-levenshtein|uuid)(\/|$)/],
    onlyBundle: false,
  },
});

export default [library, hook];
