import { type FSWatcher, watch } from 'node:fs';

/** Polling interval if the file system reports no changes, in milliseconds. */
const POLL_MS = 500;

/** Calls `look` now and after each change in the folder until it returns a value; null after `waitMs`. */
export async function watchFolderUntil<T>(
  folder: string,
  waitMs: number,
  look: () => T | null,
  signal?: AbortSignal,
): Promise<T | null> {
  if (waitMs <= 0 || signal?.aborted) return look();
  const until = Date.now() + waitMs;
  let wake = (): void => {};
  const watcher = watchFolder(folder, () => wake());
  const onAbort = (): void => wake();
  signal?.addEventListener('abort', onAbort);
  try {
    for (;;) {
      // The watch begins before the call of `look`, so that no change in between is missed.
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const found = look();
      const left = until - Date.now();
      if (found !== null || left <= 0 || signal?.aborted) return found;
      const timer = setTimeout(() => wake(), Math.min(left, POLL_MS));
      await woken;
      clearTimeout(timer);
    }
  } finally {
    watcher?.close();
    signal?.removeEventListener('abort', onAbort);
  }
}

function watchFolder(folder: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
