import { isObject, parseJson } from '../../base/json.ts';
import type { EvidenceQuery, FoundEntry, QueryPage } from '../../evidence/evidence-query.ts';
import type { RepositoryEvidence } from '../all-evidence.ts';
import { ApiError } from '../api-error.ts';

/** The cursor of a search in each repository; null if it has no more results. */
type Cursors = { readonly [key: string]: string | null };

/** One page of a search over several repositories, newest first, without the entries that cannot be read. */
export async function queryAllRepositories(
  repositories: readonly RepositoryEvidence[],
  search: EvidenceQuery,
  limit: number,
  after: string | undefined,
): Promise<QueryPage> {
  const cursors = after === undefined ? {} : readCursors(after);
  const pages = await Promise.all(
    repositories.map(async ({ key, store }) => {
      const from = Object.hasOwn(cursors, key) ? cursors[key]! : undefined;
      const query = { ...search, limit, skipUnreadable: true, ...(from === undefined ? {} : { after: from }) };
      if (from === null) return { key, store, query, found: [] as readonly FoundEntry[], next: null, unreadable: 0 };
      const page = await store.query(query);
      return { key, store, query, found: page.entries, next: page.next, unreadable: page.unreadable };
    }),
  );
  const all = pages.flatMap(({ key, found }) => found.map((one, index) => ({ key, index, one })));
  const taken = all.sort((a, b) => b.one.entry.at.localeCompare(a.one.entry.at)).slice(0, limit);
  const next: { [key: string]: string | null } = {};
  for (const { key, store, query, found, next: last } of pages) {
    const count = taken.filter((one) => one.key === key).length;
    if (count === found.length) next[key] = last;
    else if (count > 0) next[key] = (await store.query({ ...query, limit: count })).next;
    else if (query.after !== undefined) next[key] = query.after;
  }
  const isLast = all.length === taken.length && pages.every(({ next: one }) => one === null);
  return {
    entries: taken.map(({ one }) => one),
    unreadable: pages.reduce((sum, { unreadable }) => sum + unreadable, 0),
    next: isLast ? null : Buffer.from(JSON.stringify(next)).toString('base64url'),
  };
}

function readCursors(after: string): Cursors {
  const read = parseJson(Buffer.from(after, 'base64url').toString());
  if (isObject(read) && Object.values(read).every((one) => one === null || typeof one === 'string'))
    return read as Cursors;
  throw new ApiError('invalid-request', 'after: is not a cursor', 'Give the "next" of an earlier page.', 'query.after');
}
