import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { createSession } from '../../src/session/create-session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { gitLayout } from '../../src/tools/git/git-layout.ts';
import { detectSandbox } from '../../src/tools/sandbox/detect-sandbox.ts';
import {
  bwrapArgumentsOfLayout,
  fixedBwrapArguments,
  overlaysOfLayout,
} from '../../src/tools/sandbox/mounts/bwrap-arguments.ts';
import type { SandboxLayout } from '../../src/tools/sandbox/mounts/layout.ts';
import { makeSupportFiles, type SupportFiles } from '../../src/tools/sandbox/mounts/support-files.ts';
import { makeEditLayout, makeReadOnlyLayout, makeTestLayout } from '../../src/tools/sandbox/mounts/tool-layouts.ts';
import type { Sandbox } from '../../src/tools/sandbox/sandbox.ts';
import { shellBackend } from '../../src/tools/shell/shell-backend.ts';

const COMMAND = ['true'];

/** One way to run a command in the sandbox, and the same bubblewrap command line typed by hand. */
interface Way {
  readonly what: string;
  readonly sandboxed: () => Promise<void>;
  readonly byHand: () => Promise<void>;
}

/** Rates per second of one command and of the same by hand, right after the other. */
export interface Pair {
  readonly rate: number;
  readonly base: number;
}

export interface SandboxBench {
  readonly ways: readonly Way[];
  close(): Promise<void>;
}

/** The layouts to measure; null on a host without a sandbox. */
export async function sandboxBench(): Promise<SandboxBench | null> {
  const sandbox = await detectSandbox();
  if (!sandbox.availability.ok) return null;
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hopgate-bench-')));
  fs.mkdirSync(join(root, '.git', 'hooks'), { recursive: true });
  fs.writeFileSync(join(root, '.env'), 'masked');
  const request = { root, masks: ['.env'] };
  const gitDir = join(root, '.git');
  const supportFiles = makeSupportFiles();
  const layouts: { readonly [what: string]: () => SandboxLayout } = {
    explore: () => makeReadOnlyLayout(request),
    ...(sandbox.availability.overlay
      ? { edit: () => makeEditLayout(request), test: () => makeTestLayout(request) }
      : {}),
    commit: () => gitLayout({ root, gitDir, commonDir: gitDir }, { kind: 'commit' }, []),
    deploy: () => ({ ...makeReadOnlyLayout(request), name: 'deploy' }),
  };
  const ways = Object.entries(layouts).map(([what, layout]): Way => {
    const typed = commandLine(layout(), supportFiles, COMMAND);
    return {
      what: `sandboxed commands, ${what}`,
      sandboxed: () => runOnce(sandbox, layout()),
      byHand: () => typeIt(typed, supportFiles.filters.plain),
    };
  });
  const stores = [memoryStore(), sqliteStore(`${root}-store.db`)];
  const typed = commandLine(makeReadOnlyLayout(request), supportFiles, ['bash', '-c', 'true']);
  for (const [at, kind] of ['in memory', 'in SQLite'].entries())
    ways.push({
      what: `steps of bash-readonly, evidence ${kind}`,
      sandboxed: await steps(sandbox, stores[at]!, root),
      byHand: () => typeIt(typed, supportFiles.filters.plain),
    });
  return {
    ways,
    async close() {
      for (const store of stores) await store.close();
      fs.rmSync(root, { recursive: true, force: true });
      for (const end of ['', '-wal', '-shm']) fs.rmSync(`${root}-store.db${end}`, { force: true });
    },
  };
}

/** Runs both kinds in turn, so that a busy machine slows both. */
export async function pairsOf({ sandboxed, byHand }: Way, pairs: number): Promise<Pair[]> {
  const measured: Pair[] = [];
  for (let pair = -3; pair < pairs; pair++) {
    const base = 1 / (await secondsOf(byHand));
    const rate = 1 / (await secondsOf(sandboxed));
    if (pair >= 0) measured.push({ rate, base });
  }
  return measured;
}

async function runOnce(sandbox: Sandbox, layout: SandboxLayout) {
  const options = { seconds: 60, outputBytes: 65_536, signal: new AbortController().signal };
  const { exit, stderr } = await sandbox.run(layout, COMMAND, options);
  if (exit !== 0) throw new Error(`the sandboxed command ended with ${exit}: ${stderr}`);
}

/** A session whose agent runs a command at each step. */
async function steps(sandbox: Sandbox, store: EvidenceStore, root: string): Promise<() => Promise<void>> {
  let next = 0;
  const session = await createSession(
    {
      store,
      clock: Date,
      ids: { next: (kind) => `${kind}-${next++}` },
      backends: [shellBackend(sandbox)],
      approver: null,
    },
    {
      specs: await loadSpecs('default'),
      config: { ...DEFAULT_PROJECT_CONFIG, mask: ['.env'] },
      agent: 'bench',
      root,
      unsafeNoSandbox: false,
      version: '0.0.0',
    },
  );
  await session.start('explore');
  await session.setMode({ to: 'diagnose' });
  return async () => {
    const stepped = await session.step({ tool: 'bash-readonly', args: { command: 'true' } });
    if (!stepped.ok) throw new Error(stepped.denial.message);
  };
}

const MOUNT_OVERLAY = `
mount -t tmpfs hopgate "$2" && mkdir "$2/upper" "$2/work" "$2/merged" && cd "$1" &&
mount -t overlay -o "lowerdir=.,upperdir=$2/upper,workdir=$2/work$3" hopgate "$2/merged" && cd / && shift 3 && exec "$@"
`;

/** The command line by hand: an overlay has to be mounted first. */
function commandLine(layout: SandboxLayout, supportFiles: SupportFiles, command: readonly string[]): string[] {
  const contained = [
    'bwrap',
    ...[...fixedBwrapArguments(layout, supportFiles), ...bwrapArgumentsOfLayout(layout, supportFiles, {})],
    '--',
    ...command,
  ];
  const [overlay] = overlaysOfLayout(layout);
  if (!overlay) return contained;
  const isRoot = process.getuid?.() === 0;
  return [
    ...['unshare', '--mount', ...(isRoot ? [] : ['--user', '--map-root-user']), 'sh', '-c', MOUNT_OVERLAY, 'sh'],
    ...[overlay.source, supportFiles.overlayBase, isRoot ? '' : ',userxattr', ...contained],
  ];
}

function typeIt(argv: readonly string[], filter: string): Promise<void> {
  const fd = fs.openSync(filter, 'r');
  // 3 and 4 are the descriptors at which the command line expects the filter and the status report
  const child = spawn(argv[0]!, argv.slice(1), { cwd: '/', stdio: ['ignore', 'pipe', 'pipe', fd, 'pipe'] });
  fs.closeSync(fd);
  for (const stream of child.stdio) stream?.on('error', () => {});
  for (const stream of [child.stdout, child.stderr, child.stdio[4]]) (stream as NodeJS.ReadableStream).resume();
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`bwrap ended with ${code}`))));
  });
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
