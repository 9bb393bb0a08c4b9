import type { EvidenceStore } from '../../ports/evidence-store.ts';

/** The error that a dying writer throws. */
export class CrashError extends Error {
  override readonly name = 'Died';
}

/** The moment of death in an append: before it is durable, or after it but before the append returns. */
export type CrashMoment = 'before' | 'after';

/** One process with its view of a store. It can be made to die in a call. Another instance is another process. */
export class CrashingProcess {
  #death: CrashMoment | null = null;
  #dead = false;
  readonly store: EvidenceStore;

  constructor(store: EvidenceStore) {
    const alive = () => {
      if (this.#dead) throw new CrashError('the writer is dead');
    };
    const own: Partial<EvidenceStore> = {
      append: async (lease, after, drafts) => {
        alive();
        this.#dead = this.#death !== null;
        if (this.#death === 'before') throw new CrashError('the writer died before it wrote');
        const stored = await store.append(lease, after, drafts);
        if (this.#death === 'after') throw new CrashError('the writer died after it wrote');
        return stored;
      },
      acquire: async (...args) => {
        alive();
        return store.acquire(...args);
      },
    };
    this.store = new Proxy(store, {
      get(target, name) {
        const replaced = own[name as keyof EvidenceStore];
        if (replaced) return replaced;
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** The writer dies at its next append. */
  crashAt(death: CrashMoment): void {
    this.#death = death;
  }
}
