import { spawn } from 'node:child_process';
import { escapeInvisible } from '../../base/text.ts';
import { valueOr } from '../../base/value-or.ts';
import { approvalTitle } from '../../gate/approvals/approval-rows.ts';
import type { PendingItem } from '../../operator/pending-items.ts';
import { type Io, printRemark } from '../io.ts';

/**
 * Notifies the operator of a request: at a terminal by its bell and a desktop notification (OSC 9), and by the command
 * of `--exec`, which a shell runs. The command gets the request in variables, never as part of its text, because an
 * agent wrote the request.
 */
export function notifyOperator(io: Io, { pending }: PendingItem, command: string | undefined): void {
  const { id, root, request } = pending;
  const title = approvalTitle(request);
  const asks = `${escapeInvisible(request.agent)} asks for ${title}`;
  if (io.isTty) io.stdout.write(`\u0007\u001b]9;hopgate: ${asks.slice(0, 200)}\u0007`);
  if (command === undefined) return;
  const variables = {
    HOPGATE_REQUEST: id,
    HOPGATE_REQUEST_TITLE: title,
    HOPGATE_REQUEST_AGENT: escapeInvisible(request.agent),
    HOPGATE_REQUEST_REASON: escapeInvisible(request.reason).slice(0, 2000),
    HOPGATE_REQUEST_ROOT: root,
  };
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: io.cwd,
    env: { ...io.env, ...variables },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.on('error', (error) => printRemark(io, `the command of --exec cannot run: ${error.message}`));
  child.on('exit', (code) => {
    if (code) printRemark(io, `the command of --exec ended with status ${code}`);
  });
}

/** Interval between checks for new requests, in milliseconds. */
const POLL_MS = 500;

/** Notifies the operator of each new request until the returned function is called. */
export function notifyOfNewRequests(io: Io, items: () => readonly PendingItem[], command: string): () => void {
  const notified = new Set(items().map(({ pending }) => pending.request.hash));
  const timer = setInterval(() => {
    for (const item of valueOr(items, [])) {
      const { hash } = item.pending.request;
      if (item.answer === null && !notified.has(hash)) notifyOperator(io, item, command);
      notified.add(hash);
    }
  }, POLL_MS);
  return () => clearInterval(timer);
}
