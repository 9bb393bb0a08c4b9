import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Grant, ToolCall, ToolReport } from '../../../src/ports/tool-backend.ts';
import type { Json, ProjectConfig, ScopeRule } from '../../../src/spec/types.ts';
import { detectSandbox } from '../../../src/tools/sandbox/detect.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { shellBackend } from '../../../src/tools/shell/backend.ts';

/** A folder with these files, gone after the test. */
export function scratch(files: { readonly [path: string]: string } = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-test-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

let detected: Promise<Sandbox> | null = null;
/** The real sandbox of this host. */
export async function sandbox(): Promise<Sandbox> {
  detected ??= detectSandbox();
  const found = await detected;
  if (!found.availability.ok) throw new Error(`these tests need bubblewrap: ${found.availability.reason}`);
  return found;
}

export const config = (changes: Partial<ProjectConfig> = {}): ProjectConfig => ({
  specs: 'default',
  scopes: {},
  test: [],
  deploy: {},
  git: null,
  web: { allow: [] },
  mask: ['.env', '.npmrc', '.netrc', '**/*.pem'],
  toolchains: [],
  ...changes,
});

const SCOPES: { readonly [tool: string]: ScopeRule } = {
  'bash-readonly': { read: 'root', write: [], command: 'read-only', url: 'none' },
  bash: { read: 'root', write: ['src/', 'docs/'], command: 'contained', url: 'none' },
  'bash-test': { read: 'root', write: [], command: 'test', url: 'none' },
  'bash-deploy': { read: 'none', write: [], command: 'deploy', url: 'none' },
};

export interface CallChanges {
  readonly config?: Partial<ProjectConfig>;
  readonly grant?: Partial<Grant>;
  readonly seconds?: number;
  readonly outputBytes?: number;
  readonly signal?: AbortSignal;
}

export function toolCall(
  root: string,
  tool: string,
  args: { [name: string]: Json },
  changes: CallChanges = {},
): ToolCall {
  return {
    tool: {
      id: tool,
      purpose: '',
      effect: 'act',
      parameters: [],
      limits: { seconds: changes.seconds ?? 30, outputBytes: changes.outputBytes ?? 1 << 20 },
    },
    args,
    grant: {
      root,
      peripheral: 'p',
      scope: SCOPES[tool]!,
      readableFiles: null,
      config: config(changes.config),
      unsafeNoSandbox: false,
      ...changes.grant,
    },
    sessionId: 's1',
    signal: changes.signal ?? new AbortController().signal,
  };
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
