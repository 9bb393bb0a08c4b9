import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ToolReport } from '../../../src/ports/tool-backend.ts';
import type { Json } from '../../../src/spec/types.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { shellBackend } from '../../../src/tools/shell/shell-backend.ts';
import { type CallChanges, toolCall } from './tool-call.ts';

export { type CallChanges, toolCall } from './tool-call.ts';

/** A folder with these files, gone after the test. */
export function scratch(files: { readonly [path: string]: string } = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-test-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  put(root, files);
  return root;
}

export function put(root: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** The real sandbox of this host. */
export async function sandbox(): Promise<Sandbox> {
  const found = await sandboxOfProcess();
  if (!found.availability.ok) throw new Error(`these tests need bubblewrap: ${found.availability.reason}`);
  return found;
}

export async function run(
  root: string,
  tool: string,
  args: { [name: string]: Json },
  changes: CallChanges = {},
): Promise<ToolReport> {
  return shellBackend(await sandbox()).run(toolCall(root, tool, args, changes));
}

/** Runs a tool that must succeed; its result. */
export async function ok(root: string, tool: string, args: { [name: string]: Json }, changes: CallChanges = {}) {
  const report = await run(root, tool, args, changes);
  if (report.outcome.status !== 'ok') throw new Error(JSON.stringify(report.outcome));
  // biome-ignore lint/suspicious/noExplicitAny: results are JSON
  return { ...report, result: report.outcome.result as any };
}

/** The processes of this host that run `sleep <mark>`, in whatever sandbox. */
export function sleepers(mark: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${mark}\0`;
      } catch {
        return false;
      }
    });
}
