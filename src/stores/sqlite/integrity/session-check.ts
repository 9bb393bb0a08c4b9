import { valueOr } from '../../../base/value-or.ts';
import type { Json } from '../../../spec/types.ts';
import { eventOfBody, sessionFactsOfEntry } from '../../rules/session-summary.ts';
import type { SqliteRow } from '../statements.ts';

/**
 * Compares the row of a session in the table of sessions with the session's entries.
 * @param first the first entry that the store has of the session
 */
export function makeSessionCheck(
  first: SqliteRow,
  row: SqliteRow | undefined,
  report: (where: string, message: string) => void,
) {
  let [isFirst, isClosed] = [true, false];
  /** True if another program recorded the session and its first entry was erased: the closing may be erased, too. */
  let isUnknown = false;
  if (first['seq'] !== 0) report('entries', 'the first entry is missing');
  if (row === undefined) report('sessions', 'the session has entries and no row, so no list shows it');
  else if (row['opening'] !== first['nth']) report('sessions.opening', 'it names another entry than the first');
  return {
    /**
     * Adds the body of the next entry; null for an erased one.
     * @param tags the tags in the entry's head; they name hopgate's own events even after the body was erased
     */
    add(body: Json, tags: readonly string[]): void {
      const isEvent = (event: string) => (body === null ? tags.includes(event) : eventOfBody(body) === event);
      if (isEvent('session-closed')) isClosed = true;
      if (!isFirst) return;
      isFirst = false;
      isUnknown = body === null && !isEvent('session-open');
      if (row === undefined || isUnknown) return;
      const { agent, pin } = sessionFactsOfEntry({ body, author: authorOf(first) });
      if (row['agent'] !== agent) report('sessions.agent', `it is ${row['agent']}, not ${agent}`);
      // Only the body names the pin.
      if (body !== null ? row['pin'] !== pin : row['pin'] === '')
        report('sessions.pin', `it is ${row['pin'] || 'empty'}, not ${pin || 'the pinned spec'}`);
    },
    finish(): void {
      if (row === undefined) return;
      const { closed } = row;
      if (closed === Number(isClosed) || (closed === 1 && isUnknown)) return;
      report('sessions.closed', `it is ${closed}, and by its entries the session is ${isClosed ? 'closed' : 'open'}`);
    },
  };
}

const authorOf = ({ head }: SqliteRow): string =>
  valueOr(() => String((JSON.parse(String(head)) as { author?: unknown }).author), '');
