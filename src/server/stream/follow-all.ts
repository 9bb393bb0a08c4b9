import type { EvidenceOfAllRepositories, RepositoryEvidence } from '../all-evidence.ts';
import { makeResyncEvent, toCloudEvent } from './cloud-event.ts';
import type { NewEntryNotifier } from './entry-feed.ts';
import { type EventWithCursor, KEEP_ALIVE_MS, MAX_LAG_ENTRIES } from './follow-session.ts';

/** Maximum number of entries of one repository per read. */
const PAGE = 128;

/** A position in the streams of all repositories: the number of entries (or inbox messages) read, by repository key. */
export type StreamPositionByRepository = Map<string, number>;

/** The cursor of a position: `3f2a91c0d4e5f607.1z-…`; repositories without entries are left out. */
export const formatStreamCursor = (positions: StreamPositionByRepository): string =>
  [...positions].flatMap(([key, nth]) => (nth > 0 ? [`${key}.${nth.toString(36)}`] : [])).join('-');

export function parseStreamCursor(text: string): StreamPositionByRepository | null {
  const positions: StreamPositionByRepository = new Map();
  for (const part of text === '' ? [] : text.split('-')) {
    const [, key = '', nth = ''] = /^([0-9a-f]{16})\.([0-9a-z]{1,10})$/.exec(part) ?? [];
    if (key === '') return null;
    positions.set(key, Number.parseInt(nth, 36));
  }
  return positions;
}

/**
 * The entries of all sessions as events, in the order of their arrival in each repository, in batches. Without `after`
 * they begin with the next entry. A repository that `after` does not name is new, so all its entries are sent.
 */
export async function* followAllSessions({
  allEvidence,
  feed,
  after,
  signal,
}: {
  readonly allEvidence: EvidenceOfAllRepositories;
  readonly feed: NewEntryNotifier;
  readonly after: ReadonlyMap<string, number> | null;
  readonly signal: AbortSignal;
}): AsyncGenerator<readonly EventWithCursor[]> {
  const positions: StreamPositionByRepository = new Map(
    after ?? allEvidence.repositories().map(({ key, arrivals }) => [key, arrivals.last()]),
  );
  while (!signal.aborted) {
    const changed = feed.changed(null, KEEP_ALIVE_MS, signal);
    let isQuiet = true;
    for (const repository of allEvidence.repositories()) {
      const sent = await readFrom(repository, positions);
      if (sent.length === 0) continue;
      isQuiet = false;
      yield sent;
      if (signal.aborted) return;
    }
    if (!isQuiet) continue;
    await changed;
    if (!signal.aborted && isUnchanged(allEvidence, positions)) yield [];
  }
}

const isUnchanged = (allEvidence: EvidenceOfAllRepositories, positions: StreamPositionByRepository): boolean =>
  allEvidence.repositories().every(({ key, arrivals }) => arrivals.last() <= (positions.get(key) ?? 0));

async function readFrom(
  { key, store, arrivals }: RepositoryEvidence,
  positions: StreamPositionByRepository,
): Promise<readonly EventWithCursor[]> {
  const from = positions.get(key) ?? 0;
  const last = arrivals.last();
  if (last - from >= MAX_LAG_ENTRIES) {
    positions.set(key, last);
    return [{ event: makeResyncEvent('', last), cursor: formatStreamCursor(positions) }];
  }
  const sent: EventWithCursor[] = [];
  for (const { nth, id } of arrivals.after(from, PAGE)) {
    positions.set(key, nth);
    const found = await store.get(id);
    if (found) sent.push({ event: toCloudEvent(found, found.entry), cursor: formatStreamCursor(positions) });
  }
  return sent;
}
