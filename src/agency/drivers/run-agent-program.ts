import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertStarted, sendSignal } from '../../base/process.ts';
import { excerpt } from '../../base/text.ts';
import { AgentFailed } from '../agent-driver.ts';

interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly input: string;
  /** The folder in which the program works; null for a temporary folder that is removed after the run. */
  readonly cwd: string | null;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Maximum number of bytes that a program may write. */
const MAX_BYTES = 32 << 20;
/** Time between SIGTERM and SIGKILL, in milliseconds. */
const KILL_AFTER_MS = 2_000;

/** Runs an agent's program in a new process group, and returns its stdout. @throws AgentFailed */
export async function runAgentProgram({ program, args, input, cwd, env, signal }: ProgramRun): Promise<string> {
  if (cwd !== null && !existsSync(cwd))
    throw new AgentFailed(`the folder ${cwd} does not exist`, {
      remedy: 'Correct "cwd" of the agent in agents.yaml.',
      hasStarted: false,
    });
  const folder = cwd ?? mkdtempSync(join(tmpdir(), 'agency-run-'));
  try {
    return await new Promise<string>((resolve, reject) => {
      const child = assertStarted(
        spawn(program, args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }),
      );
      const kill = (how: NodeJS.Signals) => sendSignal(-child.pid!, how);
      const stop = (): void => {
        kill('SIGTERM');
        setTimeout(() => kill('SIGKILL'), KILL_AFTER_MS).unref();
      };
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
        if (stdout.length > MAX_BYTES) stop();
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = `${stderr}${text}`.slice(-4_000)));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      child.on('error', (error) =>
        reject(
          new AgentFailed(`${program} cannot be started: ${error.message}`, {
            remedy: 'Install it, or name it by "program" of the agent in agents.yaml.',
            hasStarted: false,
          }),
        ),
      );
      child.on('close', (code, ended) => {
        signal.removeEventListener('abort', stop);
        kill('SIGKILL'); // The program has ended; its children are killed with its process group.
        if (code === 0) resolve(stdout);
        else
          reject(
            new AgentFailed(
              `the agent's program ended with ${ended ?? `exit code ${code}`}: ${excerpt(stderr.trim() || stdout.trim(), 300)}`,
            ),
          );
      });
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  } finally {
    if (cwd === null) rmSync(folder, { recursive: true, force: true });
  }
}
