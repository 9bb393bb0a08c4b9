import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { nameServer } from '../server-name.ts';
import { leaveNothing } from './leave-nothing.ts';
import { type ScriptedModel, type ScriptStep, scriptedModel } from './responses-server.ts';

/** The real program, if the environment names it. */
export const CODEX_BIN = process.env['CODEX_BIN'];

/** hopgate's own command line, from its source. */
const HOPGATE = [process.execPath, join(import.meta.dirname, '../../src/cli/main.ts')] as const;

/** A home folder and an environment for Codex, whose model is a script and whose way out of this machine is closed. */
export interface CodexWorld {
  readonly folder: string;
  readonly codexHome: string;
  readonly env: { readonly [name: string]: string };
  readonly model: ScriptedModel;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly scripts: { readonly [thread: string]: readonly ScriptStep[] };
  /** Further lines of config.toml. */
  readonly config?: string;
  /** Repositories that Codex may trust. */
  readonly trust?: readonly string[];
  readonly modelName?: string;
}

export async function codexWorld({
  scripts,
  config = '',
  trust = [],
  modelName = 'scripted',
}: WorldOptions): Promise<CodexWorld> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-codex-')));
  const codexHome = join(folder, 'home', '.codex');
  const model = await scriptedModel(scripts);
  const base = `model = "${modelName}"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${model.port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[features]
enable_request_compression = false
apps = false
remote_plugin = false
plugins = false
${trust.map((root) => `\n[projects.${JSON.stringify(root)}]\ntrust_level = "trusted"\n`).join('')}
`;
  writeTree(codexHome, { 'config.toml': `${base}${config}` });
  const closed = 'http://127.0.0.1:9';
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(folder, 'home'),
    CODEX_HOME: codexHome,
    // TMPDIR is not above CODEX_HOME, because Codex makes no sandbox helper in a temporary folder.
    TMPDIR: join(folder, 'tmp'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_RUNTIME_DIR: join(folder, 'run'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    SCRIPTED_KEY: 'a-dummy-for-the-loopback-interface',
    HTTP_PROXY: closed,
    HTTPS_PROXY: closed,
    NO_PROXY: '127.0.0.1,localhost',
  };
  for (const dir of [env.XDG_RUNTIME_DIR, env.TMPDIR]) mkdirSync(dir, { mode: 0o700 });
  nameServer(env.XDG_STATE_HOME);
  return {
    folder,
    codexHome,
    env,
    model,
    async close() {
      await runToEnd([...HOPGATE, 'daemon', 'stop'], { cwd: folder, env });
      await model.close();
      await leaveNothing(folder);
    },
  };
}

export function writeTree(base: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; what lives longer than `seconds` is ended, with what it started. */
export function runToEnd(
  command: readonly [string, ...string[]],
  {
    cwd,
    env,
    seconds = 90,
  }: { readonly cwd: string; readonly env: { readonly [name: string]: string }; readonly seconds?: number },
): Promise<Ended> {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const timer = setTimeout(() => {
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  }, seconds * 1000);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}

/** Runs hopgate in a world. */
export const hopgate = (
  { env }: CodexWorld,
  cwd: string,
  args: readonly string[],
  more: { readonly [name: string]: string } = {},
): Promise<Ended> => runToEnd([...HOPGATE, ...args], { cwd, env: { ...env, CODEX_BIN: CODEX_BIN ?? '', ...more } });
