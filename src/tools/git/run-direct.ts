import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import type { CommandResult, RunOptions } from '../sandbox/sandbox.ts';

/** Runs a command without a sandbox: only where the operator opened that. The environment is cleared all the same. */
export function runDirect(cwd: string, argv: readonly string[], options: RunOptions): Promise<CommandResult> {
  const [program = '', ...args] = argv;
  const started = performance.now();
  const sockets = process.env['SSH_AUTH_SOCK'] === undefined ? {} : { SSH_AUTH_SOCK: process.env['SSH_AUTH_SOCK'] };
  const env = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: homedir(),
    LANG: 'C.UTF-8',
    ...sockets,
    ...options.env,
  };
  return new Promise((settle, fail) => {
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    const out = keepHead(options.outputBytes);
    const err = keepHead(options.outputBytes);
    let timedOut = false;
    let aborted = false;
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    const abort = () => {
      aborted = true;
      kill();
    };
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, options.seconds * 1000);
    options.signal.addEventListener('abort', abort, { once: true });
    if (options.signal.aborted) abort();
    child.stdout.on('data', out.take);
    child.stderr.on('data', err.take);
    child.stdin.on('error', () => {});
    child.stdin.end(options.stdin ?? '');
    const finish = () => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', abort);
    };
    child.on('error', (cause) => {
      finish();
      fail(new Error(`[tools/git] cannot run ${program}: ${cause.message}`, { cause }));
    });
    child.on('close', (exit, signal) => {
      finish();
      kill();
      const truncated = out.left() || err.left();
      const seconds = (performance.now() - started) / 1000;
      settle({
        exit,
        signal,
        stdout: out.text(),
        stderr: err.text(),
        truncated,
        timedOut,
        aborted,
        flooded: false,
        seconds,
      });
    });
  });
}

function keepHead(limit: number) {
  const chunks: Buffer[] = [];
  let kept = 0;
  let left = false;
  return {
    take: (chunk: Buffer) => {
      const part = chunk.subarray(0, limit - kept);
      if (part.length < chunk.length) left = true;
      if (part.length > 0) chunks.push(part);
      kept += part.length;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
    left: () => left,
  };
}
