/**
 * Knows when a client has listed the tools. One that is told of a change and then answered at once shows its model the old list in the next
 * request; one that lists first shows the new one.
 */
export class Relisting {
  #count = 0;
  #misses = 0;
  #wake: (() => void)[] = [];

  /** How often the client has listed so far. */
  get count(): number {
    return this.#count;
  }

  /** The client has asked for the list, and is about to have it. */
  listed(): void {
    this.#count += 1;
    for (const wake of this.#wake.splice(0)) wake();
  }

  /**
   * Until the client has listed once more than `count` (and `grace` milliseconds on, to take it in), at most `atMost` milliseconds. One that has let
   * that time pass twice in a row lists when it pleases, or never, and is hardly waited for any more.
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
