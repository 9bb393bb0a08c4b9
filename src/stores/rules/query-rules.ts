import {
  cutToPage,
  type EvidenceQuery,
  type FoundEntry,
  matchesQuery,
  type PositionedEntry,
  QueryError,
  type QueryPage,
  type ValidatedQuery,
  validateQuery,
} from '../../evidence/evidence-query.ts';
import { storeError } from './append-rules.ts';

/** Validates a query; throws a StoreError `invalid-query` if it has a problem. */
export function resolveStoreQuery(store: string, query: EvidenceQuery): ValidatedQuery {
  try {
    return validateQuery(query);
  } catch (error) {
    if (error instanceof QueryError) throw storeError(store, 'invalid-query', error.message, error);
    throw error;
  }
}

/** Parses the time before which a caller wants to remove data, to epoch milliseconds. */
export function parseOlderThan(store: string, olderThan: string): number {
  try {
    // A query without a time is valid, but would not say which data is old.
    return validateQuery({ before: olderThan ?? '' }).before!;
  } catch (error) {
    throw storeError(store, 'invalid-query', 'olderThan: must be ISO 8601 in UTC: 2026-01-31T09:00:00.000Z', error);
  }
}

/** Cuts the found entries to a page. Throws if the bytes of an entry contradict the index by which it was found. */
export function toQueryPage(
  store: string,
  query: ValidatedQuery,
  results: readonly PositionedEntry<FoundEntry | null>[],
): QueryPage {
  const checked = results.map(({ position, found }) => {
    if (found === null || matchesQuery(query, found.entry)) return { position, found };
    if (query.skipUnreadable) return { position, found: null };
    const message = `the index of entry ${found.entry.id} contradicts its stored bytes. The store is damaged: copy its files, then run "hopgate verify".`;
    throw storeError(store, 'store-failed', message);
  });
  return cutToPage(query, checked);
}
