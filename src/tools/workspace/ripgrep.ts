import { once } from 'node:events';
import { assertStarted } from '../../base/process.ts';

/** The maximum size of a record that is read whole. Only a match in a huge line is larger. */
const MAX_RECORD_BYTES = 4 * 1024 * 1024;
/** The size of the beginning of a larger record, which contains the path. */
const HEAD_BYTES = 64 * 1024;
const MAX_COMPLAINT_BYTES = 8 * 1024;

/** Flags of every run: no configuration file, hidden files except .git, no links, sorted by path. */
const FIXED_FLAGS = ['--no-config', '--no-ignore-global', '--no-messages', '--hidden', '--glob=!.git', '--sort=path'];

interface RipgrepRun {
  /** How the run ended; `stopped` if `onRecord` returned false. */
  readonly end: 'done' | 'stopped' | 'aborted' | 'time-limit' | 'error';
  readonly stderr: string;
}

/**
 * Runs the packaged ripgrep over `target` in `folder` and passes each record of its output to `onRecord` until that
 * returns false. ripgrep gets an empty environment and no stdin, and is killed on abort or after `seconds`.
 * @param onLongRecord called with the beginning of each record of more than 4 MB
 */
export async function runRipgrep(
  folder: string,
  args: readonly string[],
  target: string,
  separator: '\n' | '\0',
  limits: { readonly seconds: number; readonly signal: AbortSignal },
  onRecord: (record: Buffer) => boolean,
  onLongRecord: (head: Buffer) => void = () => {},
): Promise<RipgrepRun> {
  const [{ spawn }, { rgPath }] = await Promise.all([import('node:child_process'), import('@vscode/ripgrep')]);
  const deadline = AbortSignal.timeout(Math.ceil(limits.seconds * 1000));
  const child = assertStarted(
    spawn(rgPath, [...FIXED_FLAGS, ...args, '--', target], {
      cwd: folder,
      env: process.platform === 'win32' ? { SystemRoot: process.env['SystemRoot'] } : {},
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const kill = () => child.kill('SIGKILL');
  const either = AbortSignal.any([limits.signal, deadline]);
  either.addEventListener('abort', kill);
  if (either.aborted) kill();
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < MAX_COMPLAINT_BYTES) complaint += text;
  });
  const closed = once(child, 'close');
  closed.catch(() => {});
  try {
    const isStopped = !(await eachRecord(
      child.stdout,
      separator.charCodeAt(0),
      (record) => !either.aborted && onRecord(record),
      onLongRecord,
    ));
    if (isStopped) kill();
    const [status] = await closed;
    if (limits.signal.aborted) return { end: 'aborted', stderr: complaint };
    if (deadline.aborted) return { end: 'time-limit', stderr: complaint };
    if (isStopped) return { end: 'stopped', stderr: complaint };
    return { end: status === 0 || status === 1 ? 'done' : 'error', stderr: complaint };
  } finally {
    kill();
    either.removeEventListener('abort', kill);
  }
}

/** Returns false if `onRecord` did. */
async function eachRecord(
  stream: AsyncIterable<Buffer>,
  separator: number,
  onRecord: (record: Buffer) => boolean,
  onLongRecord: (head: Buffer) => void,
): Promise<boolean> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let stop = chunk.indexOf(separator); stop >= 0; stop = chunk.indexOf(separator, start)) {
      const record = Buffer.concat([...parts, chunk.subarray(start, stop)]);
      if (size > MAX_RECORD_BYTES) onLongRecord(record.subarray(0, HEAD_BYTES));
      else if (!onRecord(record)) return false;
      [parts, size, start] = [[], 0, stop + 1];
    }
    size += chunk.length - start;
    parts.push(chunk.subarray(start));
    if (size > MAX_RECORD_BYTES) parts = [Buffer.concat(parts).subarray(0, HEAD_BYTES)];
  }
  return true;
}
