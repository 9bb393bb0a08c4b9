import {
  type EvidenceQuery,
  type FoundEntry,
  matchesQuery,
  type Place,
  pageOf,
  QueryError,
  type QueryPage,
  type ResolvedQuery,
  resolveQuery,
} from '../evidence/query.ts';
import { storeError } from './append-rules.ts';

/** Something found, and where it stands among the others. */
export interface Placed {
  readonly place: Place;
  readonly found: FoundEntry;
}

/** A query that was checked; what is wrong with it speaks in the store's voice. */
export function checkQuery(store: string, query: EvidenceQuery): ResolvedQuery {
  try {
    return resolveQuery(query);
  } catch (error) {
    if (error instanceof QueryError) throw storeError(store, 'invalid-query', error.message, error);
    throw error;
  }
}

/** A time as a caller gave it, in epoch milliseconds. */
export function checkTime(store: string, olderThan: string): number {
  try {
    return resolveQuery({ before: olderThan }).before!;
  } catch (error) {
    throw storeError(store, 'invalid-query', 'olderThan: must be ISO 8601 in UTC: 2026-01-31T09:00:00.000Z', error);
  }
}

/** Cuts what was found to a page. An entry whose bytes say something else than what led to it is damage. */
export function answer(store: string, query: ResolvedQuery, found: readonly Placed[]): QueryPage {
  for (const { found: one } of found) {
    if (matchesQuery(query, one.entry)) continue;
    const message = `entry ${one.entry.id} was found under what its bytes do not say. The store is damaged: keep a copy of its files, then run the chain check`;
    throw storeError(store, 'store-failed', message);
  }
  return pageOf(query, found);
}
