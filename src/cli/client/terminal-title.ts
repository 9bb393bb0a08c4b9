import { StatusReader } from '../../daemon/answer-status-line.ts';
import { formatStatusLine } from '../../view/status-line.ts';
import type { Io } from '../io.ts';
import { withEvidence } from '../open-store.ts';

/** Interval between comparisons of the title with the session, in milliseconds. */
const PERIOD_MS = 3_000;

/** Keeps and restores the title that the terminal had (xterm); a terminal that cannot do this ignores it. */
const [KEEP, RESTORE] = ['\x1b[22;2t', '\x1b[23;2t'];

/**
 * Shows the status of a session as the title of the terminal (OSC 2) until the returned function is called. Writes only
 * to a terminal, and only if the status has changed, because another program may draw on the screen.
 */
export function showTerminalTitle(io: Io, root: string, sessionId: string): () => void {
  const term = io.env['TERM'] ?? 'dumb';
  if (!io.isTty || term === 'dumb' || term === 'linux') return () => {};
  const reader = new StatusReader(io.env);
  let lastTitle = '';
  let ended = false;
  const show = async () => {
    const status = await withEvidence(root, io.env, null, (store) => reader.read(store, { root, session: sessionId }));
    const line = `hopgate: ${formatStatusLine(status, false)}`;
    if (ended || line === lastTitle) return;
    lastTitle = line;
    io.stdout.write(`\x1b]2;${line}\x07`);
  };
  const update = () => void show().catch(() => {}); // An unreadable status leaves the title as it is.
  io.stdout.write(KEEP);
  update();
  const timer = setInterval(update, PERIOD_MS);
  timer.unref();
  return () => {
    ended = true;
    clearInterval(timer);
    io.stdout.write(RESTORE);
  };
}
