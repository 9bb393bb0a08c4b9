import { fstatSync, readSync, writeSync } from 'node:fs';
import { errorText } from '../../base/text.ts';
import type { Env } from '../../base/user-folders.ts';
import { storedCallCommand } from '../run-command.ts';
import { type DecodedAnswerFrame, decodeAnswerFrame, type encodeAnswerFrame } from './answer-frame.ts';

/** Time limit in milliseconds; shorter than the limit of client programs for a hook. */
const DEADLINE_MS = 25_000;
/** Maximum time in milliseconds to wait for a session that another program holds. */
const WAIT_MS = 4_000;
const MAX_INPUT = 32 << 20;
/** Maximum size of the store's write-ahead log, in pages: a process without the daemon reads all of it. */
const CHECKPOINT_PAGES = 128;

/**
 * The one program behind hooks, the command lines of run tickets, status lines and the start of the daemon.
 *
 * - `hook CLIENT`: asks the daemon; without one, answers in this process. `alone CLIENT`… never asks the daemon.
 * - `run TICKET`: runs a ticket's call, in the same two ways.
 * - `line FOLDER`: prints a status line, in the same two ways.
 * - `daemon`: becomes this user's daemon.
 */
export async function runHookProcess(argv: readonly string[], env: Env): Promise<void> {
  const [kind, name = ''] = argv[0] === 'alone' ? argv.slice(1) : argv;
  const alone = argv[0] === 'alone' || env['HOPGATE_DAEMON'] === 'off';
  if (kind === 'daemon') return becomeDaemon(env);
  if (kind === 'run') return runOne(name, env, alone);
  if (kind === 'line') return lineOne(name, env, alone);
  if (kind === 'hook') return hookOne(name, env, alone);
  refuse(`hopgate's hook program was called with "${argv.join(' ')}"`);
}

async function hookOne(client: string, env: Env, alone: boolean): Promise<void> {
  // A process that exits early has not answered: the launcher turns any status except 0 and 2 into a refusal.
  process.exitCode = 1;
  const limit = Number(env['HOPGATE_DEADLINE_MS']) || DEADLINE_MS;
  // The limit counts from the start of this process.
  setTimeout(() => refuse(`it took longer than ${limit / 1000} s`), limit - process.uptime() * 1000);
  process.on('uncaughtException', (error) => refuse(error.message));
  process.on('unhandledRejection', (error) => refuse(String(error)));
  try {
    const input = readInput();
    const fromDaemon = alone ? null : await askFor(`/hook/${client}`, env, input);
    const answer = fromDaemon ?? (await answerAlone(client, input, env, limit));
    if (answer.exit === 2 && answer.stderr.length === 0) refuse('no reason was given');
    if (answer.exit !== 0 && answer.exit !== 2) refuse('the answer is invalid');
    end(answer);
  } catch (error) {
    refuse(errorText(error));
  }
}

async function answerAlone(client: string, input: Buffer, env: Env, limit: number): Promise<DecodedAnswerFrame> {
  const [{ answerHook }, { SessionHost }] = await Promise.all([
    import('./answer-hook.ts'),
    import('../session-host.ts'),
  ]);
  const host = new SessionHost({
    env,
    keepOpenMs: limit,
    waitMs: Math.min(WAIT_MS, limit / 2),
    runCommand: storedCallCommand(env),
    checkpointPages: CHECKPOINT_PAGES,
    // A daemon that started in the meantime may hold the session for as long as its client runs.
    onHeldElsewhere: async () => {
      const fromDaemon = env['HOPGATE_DAEMON'] === 'off' ? null : await askRunning(`/hook/${client}`, env, input);
      if (fromDaemon) end(fromDaemon);
    },
  });
  const context = host.hookContext({ env, pid: process.pid });
  const deadlineMs = limit - 500 - process.uptime() * 1000;
  const answer = await answerHook(client, input.toString('utf8'), env, context, { deadlineMs });
  await host.openSessions.releaseAll();
  return toFrame(answer);
}

const toFrame = ({ exit, stdout, stderr }: Parameters<typeof encodeAnswerFrame>[0]): DecodedAnswerFrame => ({
  exit,
  stdout: Buffer.from(stdout),
  stderr: Buffer.from(stderr),
});

async function runOne(ticket: string, env: Env, alone: boolean): Promise<void> {
  try {
    const fromDaemon = alone ? null : await askFor(`/run/${ticket}`, env, Buffer.of());
    end(fromDaemon ?? (await runAlone(ticket, env)));
  } catch (error) {
    writeAll(2, Buffer.from(`hopgate: ${errorText(error)}\n`));
    process.exit(125);
  }
}

async function lineOne(folder: string, env: Env, alone: boolean): Promise<void> {
  setTimeout(() => process.exit(1), DEADLINE_MS);
  // isatty is avoided: node:tty loads node:net.
  const input = fstatSync(0).isCharacterDevice() ? Buffer.of() : readInput();
  const fromDaemon = alone ? null : await askFor(`/line/${encodeURIComponent(folder)}`, env, input);
  if (fromDaemon) end(fromDaemon);
  const [{ answerStatusLine }, { SessionHost }] = await Promise.all([
    import('../answer-status-line.ts'),
    import('../session-host.ts'),
  ]);
  const host = new SessionHost({ env, keepOpenMs: 0 });
  const request = { folder, input: input.toString('utf8'), env, cwd: process.cwd() };
  end(toFrame(await answerStatusLine(request, (query) => host.status(query))));
}

async function runAlone(ticket: string, env: Env): Promise<DecodedAnswerFrame> {
  const [{ executeRunTicket }, { SessionHost }] = await Promise.all([
    import('../execute-run-ticket.ts'),
    import('../session-host.ts'),
  ]);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const host = new SessionHost({ env, keepOpenMs: 0, runCommand: storedCallCommand(env) });
  const answer = await executeRunTicket(host, ticket, stop.signal);
  await host.close();
  return toFrame(answer);
}

/** Asks the daemon. Starts a daemon for the next hook and returns null if none runs; the caller then answers itself. */
async function askFor(path: string, env: Env, input: Buffer): Promise<DecodedAnswerFrame | null> {
  const answer = await askRunning(path, env, input);
  if (answer === null && !path.startsWith('/line/')) (await import('../start-daemon.ts')).startDetachedDaemon(env);
  return answer;
}

/** Asks the daemon; null if none is running. */
async function askRunning(path: string, env: Env, input: Buffer): Promise<DecodedAnswerFrame | null> {
  const { askDaemon, NoDaemonError } = await import('./ask-daemon.ts');
  try {
    const onPart = (bytes: Buffer) => writeAll(1, bytes);
    return decodeAnswerFrame(await askDaemon(path, { env, body: input.toString('utf8'), onPart }));
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
    if (error.hasStarted && path.startsWith('/run/'))
      throw new Error('the daemon stopped during the command, and its result is unknown', { cause: error });
    return null;
  }
}

async function becomeDaemon(env: Env): Promise<void> {
  const { environmentForDaemon } = await import('../start-daemon.ts');
  for (const name of Object.keys(process.env))
    if (!Object.hasOwn(environmentForDaemon(env), name)) delete process.env[name];
  const { serveDaemon } = await import('../serve-daemon.ts');
  const daemon = await serveDaemon({ env: { ...process.env } });
  if (!daemon) return;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void daemon.stop());
  process.on('SIGHUP', () => {});
  await daemon.ended;
  process.exit(0);
}

function readInput(): Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  const chunk = Buffer.alloc(1 << 16);
  for (;;) {
    try {
      const read = readSync(0, chunk);
      if (read === 0) return Buffer.concat(chunks);
      size += read;
      if (size > MAX_INPUT) throw new Error('its input is larger than 32 MiB');
      chunks.push(Buffer.from(chunk.subarray(0, read)));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return Buffer.concat(chunks);
      if (code !== 'EAGAIN') throw error;
      pause();
    }
  }
}

/** Writes both streams completely and exits; nothing is printed before the answer is complete. */
function end({ exit, stdout, stderr }: DecodedAnswerFrame): never {
  try {
    writeAll(1, stdout);
    writeAll(2, stderr);
  } catch {
    process.exit(2);
  }
  process.exit(exit);
}

function refuse(why: string): never {
  try {
    writeAll(
      2,
      Buffer.from(
        `hopgate could not decide this call, so it is refused: ${why}\nRepeat the call; if it fails again, the operator should run "hopgate doctor".\n`,
      ),
    );
  } finally {
    process.exit(2);
  }
}

function writeAll(fd: 1 | 2, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      pause();
    }
  }
}

const pause = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
