/**
 * Codex names a thread once its first turn has begun. Another turn that is begun before that waits, because the SDK would start a second thread for it.
 */
export class FirstTurn {
  readonly #isNamed: () => boolean;
  #queue: Promise<unknown> = Promise.resolve();
  #underWay: Promise<unknown> | null = null;

  constructor(isNamed: () => boolean) {
    this.#isNamed = isNamed;
  }

  /** Begins a turn, once the one before it has begun and the thread has its name. */
  before<T>(begin: () => Promise<T>): Promise<T> {
    const begun = this.#queue.then(async () => {
      while (!this.#isNamed() && this.#underWay !== null) await this.#underWay;
      return begin();
    });
    this.#queue = begun.catch(() => {});
    return begun;
  }

  /** A turn that runs by itself. In an object, for nobody to wait for its end. */
  ofRun<T>(turn: Promise<T>): { readonly turn: Promise<T> } {
    this.#beginUntil(turn);
    return { turn };
  }

  /** A turn that begins when its events are first asked for. */
  ofStream<T>(streamed: T): T {
    const { events } = streamed as { events?: AsyncIterable<unknown> };
    return events === undefined ? streamed : { ...streamed, events: this.#watched(events) };
  }

  async *#watched(events: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const named = Promise.withResolvers<void>();
    this.#beginUntil(named.promise);
    try {
      for await (const event of events) {
        named.resolve();
        yield event;
      }
    } finally {
      named.resolve();
    }
  }

  #beginUntil(settled: Promise<unknown>): void {
    const over = settled.then(
      () => {},
      () => {},
    );
    this.#underWay = over;
    void over.then(() => {
      if (this.#underWay === over) this.#underWay = null;
    });
  }
}
