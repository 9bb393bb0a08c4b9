import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingItem } from '../../operator/pending-items.ts';
import { type Io, paint, print } from '../io.ts';

/** The interval between checks for new requests, in milliseconds. */
const POLL_MS = 500;

/** Asks about each new request one time. Ends at the end of the terminal's input or at Ctrl-C. */
export async function askEachNewRequest(
  io: Io,
  items: () => readonly PendingItem[],
  ask: (item: PendingItem) => Promise<unknown>,
): Promise<void> {
  const asked = new Set<string>();
  print(io, paint(io, 'dim', 'Waiting for requests; Ctrl-C ends this.'));
  while (!io.stdin.readableEnded && !io.stdin.destroyed) {
    const next = items().find(({ pending, answer }) => answer === null && !asked.has(pending.request.hash));
    if (next === undefined) await sleep(POLL_MS);
    else {
      print(io);
      await ask(next);
      asked.add(next.pending.request.hash);
    }
  }
}
