import { valueOr } from '../../base/value-or.ts';
import type { EvidenceOfAllRepositories } from '../all-evidence.ts';

/** Interval for polling the stores for new entries while somebody waits, in milliseconds. */
const POLL_MS = 25;
/** Maximum number of new entries per read. */
const MAX_ENTRIES = 256;

/** Reports new entries of any process. It reads the stores only while somebody waits. */
export class NewEntryNotifier {
  readonly #allEvidence: EvidenceOfAllRepositories;
  readonly #waiters = new Set<{ readonly session: string | null; readonly wake: () => void }>();
  readonly #last = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(allEvidence: EvidenceOfAllRepositories) {
    this.#allEvidence = allEvidence;
  }

  /**
   * Resolves when an entry arrives after this call, after `ms`, or when the signal is aborted. Call it before you read
   * the store, so that no entry is missed.
   * @param session null for all sessions
   */
  changed(session: string | null, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#timer === null) this.#begin();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiters.delete(waiter);
        resolve();
      };
      const waiter = { session, wake };
      const timer = setTimeout(wake, ms);
      timer.unref();
      this.#waiters.add(waiter);
      signal.addEventListener('abort', wake);
      if (signal.aborted) wake();
    });
  }

  #begin(): void {
    for (const { key, arrivals } of this.#allEvidence.repositories()) this.#last.set(key, arrivals.last());
    this.#timer = setInterval(() => this.#look(), POLL_MS);
    this.#timer.unref();
  }

  #look(): void {
    if (this.#waiters.size === 0) return this.stop();
    const sessions = new Set<string>();
    // A store that cannot be read has no news here; whoever waits for it gets the error from its own next read.
    for (const { key, arrivals } of valueOr(() => this.#allEvidence.repositories(), [])) {
      const last = this.#last.get(key) ?? 0;
      const arrived = valueOr(() => arrivals.after(last, MAX_ENTRIES), []);
      this.#last.set(key, arrived.at(-1)?.nth ?? last);
      for (const { sessionId } of arrived) sessions.add(sessionId);
    }
    if (sessions.size === 0) return;
    for (const { session, wake } of this.#waiters) if (session === null || sessions.has(session)) wake();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#last.clear();
  }
}
