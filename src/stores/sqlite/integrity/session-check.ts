import { valueOr } from '../../../base/value-or.ts';
import type { Json } from '../../../spec/types.ts';
import { eventOfBody, sessionFactsOfEntry } from '../../rules/session-summary.ts';
import type { SqliteRow } from '../statements.ts';

/** Compares the row of a session in the table of sessions with the session's entries. */
export class SessionCheck {
  readonly #first: SqliteRow;
  readonly #row: SqliteRow | undefined;
  readonly #report: (where: string, message: string) => void;
  #isFirst = true;
  #closed = false;
  /** True if another program recorded the session and its first entry was erased: the closing may be erased, too. */
  #isUnknown = false;

  /** @param first the first entry that the store has of the session */
  constructor(first: SqliteRow, row: SqliteRow | undefined, report: (where: string, message: string) => void) {
    this.#first = first;
    this.#row = row;
    this.#report = report;
    if (first['seq'] !== 0) report('entries', 'the first entry is missing');
    if (row === undefined) report('sessions', 'the session has entries and no row, so no list shows it');
    else if (row['opening'] !== first['nth']) report('sessions.opening', 'it names another entry than the first');
  }

  /**
   * Adds the body of the next entry; null for an erased one.
   * @param tags the tags in the entry's head; they name hopgate's own events even after the body was erased
   */
  add(body: Json, tags: readonly string[]): void {
    const isEvent = (event: string) => (body === null ? tags.includes(event) : eventOfBody(body) === event);
    if (isEvent('session-closed')) this.#closed = true;
    if (!this.#isFirst) return;
    this.#isFirst = false;
    this.#isUnknown = body === null && !isEvent('session-open');
    if (this.#row === undefined || this.#isUnknown) return;
    const { agent, pin } = sessionFactsOfEntry({ body, author: authorOf(this.#first) });
    if (this.#row['agent'] !== agent) this.#report('sessions.agent', `it is ${this.#row['agent']}, not ${agent}`);
    // Only the body names the pin.
    if (body !== null ? this.#row['pin'] !== pin : this.#row['pin'] === '')
      this.#report('sessions.pin', `it is ${this.#row['pin'] || 'empty'}, not ${pin || 'the pinned spec'}`);
  }

  finish(): void {
    if (this.#row === undefined) return;
    const closed = this.#row['closed'];
    if (closed === Number(this.#closed) || (closed === 1 && this.#isUnknown)) return;
    this.#report(
      'sessions.closed',
      `it is ${closed}, and by its entries the session is ${this.#closed ? 'closed' : 'open'}`,
    );
  }
}

const authorOf = ({ head }: SqliteRow): string =>
  valueOr(() => String((JSON.parse(String(head)) as { author?: unknown }).author), '');
