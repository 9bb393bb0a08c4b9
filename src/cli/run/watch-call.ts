import { escapeTerminalLine, excerpt } from '../../base/text.ts';
import type { CallControls } from '../../ports/tool-backend.ts';
import { type Io, paint, printRemark } from '../io.ts';

/** A call that the command line waits for. */
export interface CallWithProgress extends CallControls {
  readonly signal: AbortSignal;
  /** Aborts the call; false if it was aborted before. */
  cancel(): boolean;
  /** Removes the progress line. Returns true if all output was shown while the call ran. */
  end(): boolean;
}

const TERMINAL = { firstMs: 2000, everyMs: 1000 };
const NO_TERMINAL = { firstMs: 30_000, everyMs: 30_000 };
/** Maximum number of output lines that are kept until the call is shown. */
const MAX_WAITING = 500;
const ERASE = '\r\u001b[2K';

/** Runs a task of hopgate itself with the line of {@link showCallProgress}. Ctrl-C ends the whole command. */
export async function withProgressLine<T>(io: Io, what: string, work: () => Promise<T>): Promise<T> {
  const watched = showCallProgress(io, what);
  return work().finally(() => watched.end());
}

/**
 * Shows a call that takes more than two seconds: at a terminal its output line by line above a line with the time,
 * elsewhere a note every half minute. Everything goes to stderr.
 * @param pace the time before the first line and the interval of its updates, in milliseconds
 */
export function showCallProgress(io: Io, what: string, pace = io.isTty ? TERMINAL : NO_TERMINAL): CallWithProgress {
  const controller = new AbortController();
  const since = performance.now();
  const waiting: string[] = [];
  let unfinished = '';
  let isShown = false;
  let hasOutput = false;
  let isWhole = true;
  const seconds = () => Math.round((performance.now() - since) / 1000);
  const draw = () => {
    if (io.json) return;
    if (!io.isTty) return printRemark(io, `${what} has been running for ${seconds()} s`);
    const lines = waiting.splice(0).map((line) => `${paint(io, 'dim', '  │ ')}${escapeTerminalLine(line, io.color)}\n`);
    const state = controller.signal.aborted ? 'ending it' : 'Ctrl-C cancels it';
    io.stderr.write(
      `${ERASE}${lines.join('')}${paint(io, 'dim', `  … ${excerpt(what, 50)}, ${seconds()} s (${state})`)}`,
    );
  };
  const begin = () => {
    isShown = true;
    draw();
    timer = setInterval(draw, pace.everyMs).unref();
  };
  let timer: NodeJS.Timeout = setTimeout(begin, pace.firstMs).unref();
  return {
    signal: controller.signal,
    onOutput: (text) => {
      hasOutput = true;
      const [first = '', ...more] = text.split(/\r?\n/);
      const lines = [unfinished + first, ...more];
      unfinished = lines.pop()!;
      waiting.push(...lines);
      isWhole &&= waiting.length <= MAX_WAITING;
      waiting.splice(0, Math.max(0, waiting.length - MAX_WAITING));
    },
    cancel: () => {
      const isFirst = !controller.signal.aborted;
      controller.abort(new Error('the operator cancelled the call'));
      if (isShown && io.isTty && !io.json) io.stderr.write(ERASE);
      return isFirst;
    },
    end: () => {
      clearTimeout(timer);
      if (unfinished !== '') waiting.push(unfinished);
      if (isShown && io.isTty && !io.json) {
        draw();
        io.stderr.write(ERASE);
      }
      return isShown && io.isTty && !io.json && hasOutput && isWhole;
    },
  };
}
