import type { Clock } from '../ports/clock.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import { IN_MEMORY_FILE } from './sqlite/sqlite-schema.ts';
import { sqliteStore } from './sqlite.ts';

/**
 * Evidence store in memory; it lives as long as the process and writes no file.
 *
 * @example
 * const store = memoryStore({ clock: { now: () => 0 } });
 */
export const memoryStore = (options: { readonly clock?: Clock } = {}): EvidenceStore =>
  sqliteStore(IN_MEMORY_FILE, options);
