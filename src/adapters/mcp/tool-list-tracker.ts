/**
 * Tracks when a client lists the tools. If a client is notified of a change and answered immediately, its next request
 * to the model contains the old list. If it lists the tools before the answer, the request contains the new list.
 */
export class ToolListTracker {
  #count = 0;
  #misses = 0;
  #relists = false;
  #wake: (() => void)[] = [];

  /** Number of times that the client has listed the tools so far. */
  get count(): number {
    return this.#count;
  }

  /** Called when the client has requested the list, before it receives it. */
  listed(): void {
    this.#count += 1;
    for (const wake of this.#wake.splice(0)) wake();
  }

  /**
   * Waits until the client has listed the tools more often than `count`, at most `atMost` milliseconds, and then
   * `grace` milliseconds for it to process the list. Claude Code drops a notification that comes soon after another
   * one, so `notify` is called, and the wait repeated, for a client that answered the notification before with a new
   * list. A client that timed out twice in a row is assumed not to list again soon; from then on the wait is at most
   * `grace`.
   */
  async waitForList(
    count: number,
    atMost: number,
    grace: number,
    signal: AbortSignal,
    notify: () => void,
  ): Promise<void> {
    const wait = this.#misses < MAX_MISSES ? atMost : Math.min(atMost, grace);
    if (wait <= 0) return;
    await this.#wait(count, wait, signal);
    if (this.#relists && this.#misses < MAX_MISSES && this.#count === count && !signal.aborted) {
      notify();
      await this.#wait(count, wait, signal);
    }
    if (signal.aborted) return;
    this.#relists = this.#count !== count;
    this.#misses = this.#relists ? 0 : this.#misses + 1;
    if (this.#relists) await new Promise((resolve) => setTimeout(resolve, grace));
  }

  async #wait(count: number, most: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#count !== count) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, most);
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#wake.push(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

const MAX_MISSES = 2;
