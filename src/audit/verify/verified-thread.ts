import type { Body } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import { patternStatusAfter, patternToolOfEntry } from '../../evidence/patterns/pattern-tools.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { hasHadVisit } from '../rules/judged-state.ts';

const ADVANCING_EVENTS: readonly string[] = ['step', 'intent', 'outcome', 'interrupted', 'par', 'start'];

/** Follows a session's tree of replies: computes which entry each new entry must reply to. */
export class VerifiedThread {
  #openedId = '';
  #lastId: string | null = null;
  /**
   * The id of the entry that the next step must reply to; after the visit's stop, the entry before the stop.
   * Conclusions and replies to a selection do not count.
   */
  #headId: string | null = null;
  #shownId: string | null = null;
  #pendingId: string | null = null;
  /** The entry that last selected each pattern. */
  readonly #selections = new Map<string, string>();

  /**
   * The ids of three entries: the last entry; the entry that a reframe names, which is the head before a review; and
   * the intent without an outcome.
   */
  get ids(): { readonly lastId: string | null; readonly shownId: string | null; readonly pendingId: string | null } {
    return { lastId: this.#lastId, shownId: this.#shownId, pendingId: this.#pendingId };
  }

  /** The id of the entry that an entry with this body must reply to; null for the first entry. */
  parentOf(body: Body, state: AuditState): string | null {
    const rule = patternToolOfEntry(body);
    const selection =
      rule?.repliesTo === 'selection' && rule.pattern !== null ? this.#selections.get(rule.pattern) : undefined;
    if (selection !== undefined) return selection;
    if (body.event === 'session-open') return null;
    if (body.event === 'start') return hasHadVisit(state) ? this.#lastId : this.#openedId;
    if (body.event === 'step' || body.event === 'intent' || body.event === 'stop')
      return state.visit ? this.#headId : this.#lastId;
    if (body.event === 'outcome' || body.event === 'interrupted') return this.#pendingId ?? this.#lastId;
    return this.#lastId;
  }

  /** @param event null if it cannot be read; the event of an erased body is known from the entry's tags */
  add(entry: Entry, event: string | null, body: Body | null): void {
    const { id, inReplyTo, claim } = entry;
    this.#lastId = id;
    if (event === 'session-open') this.#openedId = id;
    if (event === 'intent') this.#pendingId = id;
    if (event === 'outcome' || event === 'interrupted') this.#pendingId = null;
    const aside = event === 'step' && (inReplyTo !== this.#headId || claim === 'conclusion');
    if (event !== null && ADVANCING_EVENTS.includes(event) && !aside) {
      this.#headId = id;
      if (event !== 'par') this.#shownId = id;
    }
    if (body?.event !== 'step' && body?.event !== 'outcome') return;
    const pattern = patternStatusAfter(body.tool, body.outcome);
    if (pattern?.selects) this.#selections.set(pattern.pattern, id);
  }
}
