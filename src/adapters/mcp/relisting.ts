/**
 * Tracks when a client lists the tools. If a client is notified of a change and answered at once, its next request
 * shows the model the old list. If it lists the tools before the answer, the request shows the new list.
 */
export class Relisting {
  #count = 0;
  #misses = 0;
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
   * `grace` milliseconds for it to process the list. A client that timed out twice in a row is assumed not to list
   * again at once; from then on the wait is at most `grace`.
   */
  async since(count: number, atMost: number, grace: number, signal: AbortSignal): Promise<void> {
    const wait = this.#misses < ENOUGH ? atMost : Math.min(atMost, grace);
    if (wait <= 0 || signal.aborted) return;
    if (this.#count === count)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait);
        const end = (): void => {
          clearTimeout(timer);
          resolve();
        };
        this.#wake.push(end);
        signal.addEventListener('abort', end, { once: true });
      });
    if (signal.aborted) return;
    const listed = this.#count !== count;
    this.#misses = listed ? 0 : this.#misses + 1;
    if (listed) await new Promise((resolve) => setTimeout(resolve, grace));
  }
}

const ENOUGH = 2;
