import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, delimiter, join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** True if a file imports a module with this name. */
const imports = (file: string, module: string): boolean => readFileSync(file, 'utf8').includes(`/${module}'`);

/** The files that try more in `npm run test:deep` than in `npm test`. */
function deepFiles(): string[] {
  // Modules that tell a test how much to try: test/depth.ts, and the helpers that import it.
  const depths = globSync('test/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts') && imports(file, 'depth.ts'))
    .map((file) => basename(file))
    .concat('depth.ts');
  return globSync('test/**/*.test.ts').filter((file) => depths.some((module) => imports(file, module)));
}

/** The files that take longest, longest first. A worker that gets one of them last would run on alone. */
const LONGEST = `
  docs/extend docs/pages attacks/attacks tools/shell/git-in-edit testing/gate-mutants effect/effect attacks/what-ships
  tools/shell/git-in-shell daemon/crash audit/same-answer cli/mcp tools/git/hostile tools/shell/read-only tools/git/work
  tools/sandbox/probe tools/shell/test tools/shell/edit adapters/claude-agent-sdk adapters/ai-sdk world/generate
  tools/git/push-https adapters/langchain page/inbox cli/acp adapters/openai-agents packed adapters/claude-code/calls
  daemon/launcher server/process testing/properties testing/spec-sets page/page cli/doctor cli/init-and-trust
  stores/sqlite tools/upstream/backend tools/shell/online adapters/mcp/approvals adapters/mcp/contract attacks/at-once
  agency/two-machines session/crash tools/git/odd-repositories tools/git/push-ssh attacks/push-credential
  adapters/plain-loop agency/remote-chain messages/emacs-screen cli/mcp-attach tools/install/install cli/uninstall
  tools/git/branches tools/git/author adapters/claude-code/conversation agency/node
`
  .trim()
  .split(/\s+/)
  .map((name) => `test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      LONGEST.toReversed().indexOf(relative(import.meta.dirname, moduleId));
    return (await super.sort(files)).toSorted((a, b) => rank(b) - rank(a));
  }
}

/**
 * Files share the modules of their worker: to load them for each file takes longer than most files run. In a deep run,
 * the longest have a worker of their own: with the modules and the garbage of other files, a worker grows to 700 MB, and
 * a large process takes several times as long to start a program.
 */
const projects = (only: readonly string[] | null, isDeep: boolean) => [
  {
    extends: true as const,
    test: { name: 'long', isolate: isDeep, include: LONGEST.filter((file) => only?.includes(file) ?? true) },
  },
  {
    extends: true as const,
    test: {
      name: 'short',
      isolate: false,
      include: [...(only ?? ['test/**/*.test.ts'])],
      exclude: [...LONGEST, 'test/clients/**'],
    },
  },
];

export default defineConfig(({ mode }) => ({
  test: {
    projects: projects(mode === 'deep' ? deepFiles() : null, mode === 'deep' || process.env['HOPGATE_DEEP'] === '1'),
    globalSetup: ['test/run-folder.ts'],
    setupFiles: ['test/seed.ts'],
    // A limit ends a test that hangs; on a slow machine, none may end one that works.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 500_000 } },
    // One worker more than cores: for a third of the time a test waits for the programs that it started.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Programs that tests start take their compiled modules from here.
    env: {
      // Not the shims of a version manager: hopgate asks one in each repository, and its answer takes a dozen processes.
      PATH: (process.env['PATH'] ?? '')
        .split(delimiter)
        .filter((folder) => basename(folder) !== 'shims')
        .join(delimiter),
      // The name for commits must not depend on the machine.
      GIT_CONFIG_GLOBAL: join(import.meta.dirname, 'test/fixtures/person.gitconfig'),
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/hopgate-tests'),
      // tsc is a program in Go. It ends soon, so collecting its garbage only costs time.
      GOGC: 'off',
      ...(mode === 'deep' ? { HOPGATE_DEEP: '1' } : {}),
    },
  },
}));
