import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { askDaemon } from '../../src/daemon/hook/ask-daemon.ts';
import { commandEntryFile } from '../../src/daemon/package-files.ts';
import type { World } from './daemon-fixture.ts';

export interface Ended {
  readonly exit: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with `input` on its standard input. */
export async function runProgram(
  program: string,
  args: readonly string[],
  env: { readonly [name: string]: string },
  input = '',
): Promise<Ended> {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  return ended(child, input);
}

export async function ended(child: ChildProcess, input: string | null = null): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin?.on('error', () => {});
  if (input !== null) child.stdin?.end(input);
  const [exit, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { exit, signal, stdout, stderr };
}

/** Starts the daemon as a process of its own, with these flags of Node; it is ended with the test. */
export function spawnDaemon(world: World, flags: readonly string[] = []): ChildProcess {
  const child = spawn(process.execPath, [...flags, commandEntryFile(), 'daemon'], {
    env: world.env,
    stdio: ['ignore', 'ignore', flags.length > 0 ? 'pipe' : 'ignore'],
  });
  world.later(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  return child;
}

/** Starts the daemon as `spawnDaemon` does, and waits until this one answers: no second one is started meanwhile. */
export async function startDaemon(world: World, flags: readonly string[] = []): Promise<ChildProcess> {
  const child = spawnDaemon(world, flags);
  const pid = () =>
    askDaemon('/status', { env: world.env }).then(
      (bytes) => (JSON.parse(bytes.toString()) as { pid: number }).pid,
      () => null,
    );
  while ((await pid()) !== child.pid) {
    if (child.exitCode !== null) throw new Error(`the daemon exited with ${child.exitCode}`);
    await sleep(10);
  }
  return child;
}

/** Connects to the inspector of a process of Node that was started with `--inspect`. Sends one command at a time. */
export async function connectInspector(
  child: ChildProcess,
): Promise<(method: string) => Promise<{ readonly [name: string]: unknown }>> {
  const [printed] = (await once(child.stderr!.setEncoding('utf8'), 'data')) as [string];
  child.stderr!.resume();
  const url = /ws:\S+/.exec(printed)?.[0];
  if (url === undefined) throw new Error(`no address of an inspector in ${printed}`);
  const socket = new WebSocket(url);
  onTestFinished(() => socket.close());
  await once(socket, 'open');
  return async (method) => {
    socket.send(JSON.stringify({ id: 1, method }));
    const [message] = (await once(socket, 'message')) as [MessageEvent];
    const { result, error } = JSON.parse(String(message.data)) as { result?: object; error?: object };
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return { ...result };
  };
}

/** A PreToolUse event of Claude Code. */
export const preToolUse = (world: World, tool: string, input: object, id = 'toolu_1', session = 'c1'): string =>
  JSON.stringify({
    session_id: session,
    transcript_path: '/dev/null',
    cwd: world.root,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_use_id: id,
  });

export const postToolUse = (world: World, tool: string, input: object, response: object, id = 'toolu_1'): string =>
  JSON.stringify({
    ...(JSON.parse(preToolUse(world, tool, input, id)) as object),
    hook_event_name: 'PostToolUse',
    tool_response: response,
  });
