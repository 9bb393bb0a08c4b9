import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bwrapArguments } from '../../src/tools/sandbox/bwrap-arguments.ts';
import { detectSandbox } from '../../src/tools/sandbox/detect.ts';
import { makeFurniture } from '../../src/tools/sandbox/furniture.ts';
import { readOnlyLayout } from '../../src/tools/sandbox/layouts.ts';
import type { Sandbox } from '../../src/tools/sandbox/sandbox.ts';
import { type FilterArch, seccompFilter } from '../../src/tools/sandbox/seccomp.ts';

const COMMAND = ['true'];

/** Commands in the sandbox, and the same bubblewrap command line as one would type it. */
export interface SandboxBench {
  /**
   * Both per second, one command after the other and each kind in turn, so that a busy machine slows both; by the median command.
   * `rate`: sandboxed, with layout, limits and supervision. `base`: bubblewrap alone, with the same mounts and system-call filter.
   */
  inTurn(pairs?: number): Promise<{ readonly rate: number; readonly base: number }>;
  /** Seconds until `commands` that were started at once have all ended. */
  atOnce(commands: number): Promise<number>;
  close(): void;
}

/** What there is to measure; null on a host without a sandbox. */
export async function sandboxBench(): Promise<SandboxBench | null> {
  const sandbox = await detectSandbox();
  if (!sandbox.availability.ok) return null;
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hopgate-bench-')));
  fs.writeFileSync(join(root, '.env'), 'masked');
  fs.writeFileSync(join(root, 'filter'), seccompFilter({ arch: process.arch as FilterArch, unixSockets: false }));
  const request = { root, masks: ['.env'] };
  const furniture = makeFurniture();
  const typed = ['bwrap', ...bwrapArguments(readOnlyLayout(request), furniture, {}), '--', ...COMMAND];
  const once = () => runOnce(sandbox, request);
  return {
    async inTurn(pairs = 40) {
      const byHand: number[] = [];
      const sandboxed: number[] = [];
      for (let pair = 0; pair < pairs; pair++) {
        byHand.push(await secondsOf(() => typeIt(typed, join(root, 'filter'))));
        sandboxed.push(await secondsOf(once));
      }
      return { rate: 1 / median(sandboxed), base: 1 / median(byHand) };
    },
    async atOnce(commands) {
      const start = performance.now();
      await Promise.all(Array.from({ length: commands }, once));
      return (performance.now() - start) / 1000;
    },
    close: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}

async function runOnce(sandbox: Sandbox, request: { readonly root: string; readonly masks: readonly string[] }) {
  const options = { seconds: 60, outputBytes: 65_536, signal: new AbortController().signal };
  const { exit, stderr } = await sandbox.run(readOnlyLayout(request), COMMAND, options);
  if (exit !== 0) throw new Error(`the sandboxed command ended with ${exit}: ${stderr}`);
}

function typeIt(argv: readonly string[], filter: string): Promise<void> {
  const fd = fs.openSync(filter, 'r');
  // 3 and 4 are where the command line expects the filter and a place to report to
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

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
