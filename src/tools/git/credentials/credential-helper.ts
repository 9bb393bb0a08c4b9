import { spawn } from 'node:child_process';
import { assertStarted, sendSignal } from '../../../base/process.ts';
import type { ToolCall } from '../../../ports/tool-backend.ts';
import { ABORTED_OUTCOME } from '../../tool-outcomes.ts';
import { failedToolStop, type ToolStop } from '../../workspace/tool-stop.ts';
import type { NetworkTarget } from './push-target.ts';

const ANSWER_BYTES = 64 << 10;
const SECONDS = 60;

/** Variables that forbid prompts, because a helper has no terminal and no window. */
const UNATTENDED = { GIT_TERMINAL_PROMPT: '0', GCM_INTERACTIVE: 'never', GIT_ASKPASS: 'true', SSH_ASKPASS: 'true' };

/**
 * Asks a program of the operator for a login, by git's protocol for credential helpers, outside the sandbox and
 * repository.
 */
export async function askCredentialHelper(
  command: readonly string[],
  { url }: NetworkTarget,
  call: Pick<ToolCall, 'signal' | 'tool'>,
): Promise<{ readonly username: string; readonly password: string } | ToolStop> {
  const { host, pathname } = new URL(url);
  const request = `protocol=https\nhost=${host}\npath=${pathname.slice(1)}\n\n`;
  const seconds = Math.min(SECONDS, call.tool.limits.seconds);
  const answer = await runOperatorProgram(
    [...command, 'get'],
    request,
    AbortSignal.any([call.signal, AbortSignal.timeout(seconds * 1000)]),
  );
  if (call.signal.aborted) return { stop: ABORTED_OUTCOME };
  const fields = new Map(
    answer?.split(/\r?\n/).map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]),
  );
  const [username, password] = [fields.get('username'), fields.get('password')];
  if (username !== undefined && password !== undefined) return { username, password };
  return failedToolStop(
    'no-credential',
    `git.credential: ${command[0]} ${answer === null ? 'failed' : `knows no user name and password for ${host}`}; ask the operator to run it with "get" and to fix it.`,
  );
}

/** The stdout of a program of the operator, run outside the sandbox and the repository; null if it failed. */
export function runOperatorProgram(
  [program, ...words]: readonly string[],
  stdin: string,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    // `detached` starts a new session, so that the program has no terminal for prompts.
    const child = assertStarted(
      spawn(program!, words, {
        cwd: '/',
        env: { ...process.env, ...UNATTENDED },
        stdio: ['pipe', 'pipe', 'ignore'],
        detached: true,
      }),
    );
    const end = (answer: string | null) => {
      signal.removeEventListener('abort', stop);
      resolve(answer);
    };
    const stop = () => {
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      child.stdout.destroy();
      end(null);
    };
    let answer = '';
    child.stdout.on('data', (chunk: Buffer) => {
      answer += chunk.toString('utf8');
      if (answer.length > ANSWER_BYTES) stop();
    });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    child.once('error', () => end(null));
    child.once('close', (code) => end(code === 0 ? answer : null));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
