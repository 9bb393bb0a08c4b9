import { replaceMethod } from '../../base/replace-method.ts';
import type { StoredEntry } from '../../evidence/entry.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';

/** Thrown by a process that crashes. */
export class CrashError extends Error {
  override readonly name = 'CrashError';
}

/** The moment of a crash in an append: before the entry is durable, or after it but before the append returns. */
export type CrashMoment = 'before' | 'after';

/** A process that writes to a store, and that a test can let crash. Each instance counts as another process. */
export class CrashingProcess {
  #nextCrash: CrashMoment | null = null;
  #hasCrashed = false;
  readonly store: EvidenceStore;

  /** @param onStored called with the entries of each append, as they are stored */
  constructor(store: EvidenceStore, onStored: (stored: readonly StoredEntry[]) => void) {
    const refuseAfterCrash = () => {
      if (this.#hasCrashed) throw new CrashError('the process has crashed');
    };
    const append: EvidenceStore['append'] = async (lease, after, drafts) => {
      refuseAfterCrash();
      this.#hasCrashed = this.#nextCrash !== null;
      if (this.#nextCrash === 'before') throw new CrashError('the process crashed before the entry was durable');
      const stored = await store.append(lease, after, drafts);
      onStored(stored);
      if (this.#nextCrash === 'after') throw new CrashError('the process crashed after the entry was durable');
      return stored;
    };
    const acquire: EvidenceStore['acquire'] = async (...args) => {
      refuseAfterCrash();
      return store.acquire(...args);
    };
    this.store = replaceMethod(replaceMethod(store, 'append', append), 'acquire', acquire);
  }

  /** Lets the process crash at its next append. */
  crashAt(moment: CrashMoment): void {
    this.#nextCrash = moment;
  }
}
