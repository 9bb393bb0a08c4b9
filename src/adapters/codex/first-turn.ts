/** Delays further turns until Codex gives the thread an id; before that, the SDK would start a second thread. */
export class FirstTurnQueue {
  readonly #isNamed: () => boolean;
  #queue: Promise<unknown> = Promise.resolve();
  #underWay: Promise<unknown> | null = null;

  constructor(isNamed: () => boolean) {
    this.#isNamed = isNamed;
  }

  /** Begins a turn once the previous one has begun and the thread has its id. */
  before<T>(begin: () => Promise<T>): Promise<T> {
    const begun = this.#queue.then(async () => {
      while (!this.#isNamed() && this.#underWay !== null) await this.#underWay;
      return begin();
    });
    this.#queue = begun.catch(() => {});
    return begun;
  }

  /** Registers a turn that has begun to run. Returns it in an object, so that `await` does not wait for its end. */
  ofRun<T>(turn: Promise<T>): { readonly turn: Promise<T> } {
    this.#beginUntil(turn);
    return { turn };
  }

  /** Registers a turn that begins when its first event is requested. */
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
