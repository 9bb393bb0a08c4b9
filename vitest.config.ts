import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** True if a file imports a module with this name. */
const imports = (file: string, module: string): boolean => readFileSync(file, 'utf8').includes(`/${module}'`);

/** Modules that tell a test how much to try: test/depth.ts, and the helpers that import it. */
const DEPTHS = globSync('test/**/*.ts')
  .filter((file) => !file.endsWith('.test.ts') && imports(file, 'depth.ts'))
  .map((file) => basename(file))
  .concat('depth.ts');

/** The files that try more in `npm run test:deep` than in `npm test`. */
const DEEP = globSync('test/**/*.test.ts').filter((file) => DEPTHS.some((module) => imports(file, module)));

/** The files that take longest, longest first. A worker that gets one of them last would run on alone. */
const LONGEST = [
  ...['attacks/attacks', 'testing/gate-mutants', 'audit/same-answer', 'tools/shell/git-in-edit', 'docs/extend'],
  ...['testing/properties', 'daemon/crash', 'cli/mcp', 'packed', 'tools/shell/read-only', 'testing/spec-sets'],
  ...['attacks/what-ships', 'cli/acp', 'tools/git/push-https', 'cli/mcp-attach', 'cli/world', 'tools/git/push-ssh'],
  ...['adapters/claude-code/install', 'tools/git/work', 'daemon/launcher', 'tools/sandbox/probe', 'page/inbox'],
  ...['adapters/ai-sdk', 'adapters/mcp/approvals', 'adapters/claude-agent-sdk'],
].map((name) => join(import.meta.dirname, `test/${name}.test.ts`));

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => LONGEST.toReversed().indexOf(moduleId);
    return (await super.sort(files)).toSorted((a, b) => rank(b) - rank(a));
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'deep' ? DEEP : ['test/**/*.test.ts'],
    exclude: ['test/clients/**'],
    setupFiles: ['test/seed.ts'],
    // A limit ends a test that hangs; on a slow machine, none may end one that works.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 500_000 } },
    // One worker more than cores: for a third of the time a test waits for the programs that it started.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Files share the modules of their worker: to load them for each file takes longer than most files run.
    isolate: false,
    // Programs that tests start take their compiled modules from here.
    env: {
      // The name for commits must not depend on the machine.
      GIT_CONFIG_GLOBAL: join(import.meta.dirname, 'test/fixtures/person.gitconfig'),
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/hopgate-tests'),
      ...(mode === 'deep' ? { HOPGATE_DEEP: '1' } : {}),
    },
  },
}));
