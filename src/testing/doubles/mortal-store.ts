import type { EvidenceStore } from '../../ports/evidence-store.ts';

/** The error that a dying writer throws. */
export class DeathError extends Error {
  override readonly name = 'Died';
}

/** The moment of death in an append: before it is durable, or after it but before the append returns. */
export type Death = 'before' | 'after';

/** One process with its view of a store. It can be made to die in a call. Another instance is another process. */
export class MortalProcess {
  #death: Death | null = null;
  #dead = false;
  readonly store: EvidenceStore;

  constructor(store: EvidenceStore) {
    const alive = () => {
      if (this.#dead) throw new DeathError('the writer is dead');
    };
    const own: Partial<EvidenceStore> = {
      append: async (lease, after, drafts) => {
        alive();
        this.#dead = this.#death !== null;
        if (this.#death === 'before') throw new DeathError('the writer died before it wrote');
        const stored = await store.append(lease, after, drafts);
        if (this.#death === 'after') throw new DeathError('the writer died after it wrote');
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
  dieAt(death: Death): void {
    this.#death = death;
  }
}
