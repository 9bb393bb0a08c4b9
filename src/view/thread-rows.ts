import { fieldsOf, type Json, textOf } from '../base/json.ts';
import type { Entry } from '../evidence/entry.ts';
import { type EntrySummary, summariseEntry } from './entry-summary.ts';
import type { ParameterOrderOfTool } from './format-call.ts';
import type { OptionalJsonFields } from './summarise-value.ts';

/** A row of a thread: one entry, or several that belong together (an intent and its outcome, a hop and its start). */
export interface ThreadRow extends EntrySummary {
  /** The position of the row's first entry among all entries that were added. */
  readonly key: number;
  readonly entries: readonly Entry[];
  /** Milliseconds since the first entry; NaN if a time cannot be parsed. */
  readonly after: number;
  /** Milliseconds from the start of the call to its result; null if the row has no result. */
  readonly durationMs: number | null;
  /** The row's depth in the tree of replies; 0 for the session's own actions. */
  readonly depth: number;
  /** The last recorded state of a message. */
  readonly state?: string;
}

/** The row that an added entry created or changed. */
interface RowChange {
  readonly row: ThreadRow;
  /** Earlier rows that are now a part of this row. The caller must remove them. */
  readonly replaces: readonly ThreadRow[];
}

/** The note that is shown at an approval that no request has used. */
const UNUSED = 'never used';

/** Joins entries to rows: an outcome to its intent, a start to its hop, a receipt to its message. */
export class ThreadRows {
  readonly #order: ParameterOrderOfTool;
  readonly #joinApprovals: boolean;
  readonly #seen = new Set<string>();
  readonly #depths = new Map<string, number>();
  /** Rows that a reply may join, by the id of their last entry. */
  readonly #open = new Map<string, ThreadRow>();
  readonly #approvals = new Map<string, ThreadRow>();
  /** Messages that were received or sent, by id. */
  readonly #messages = new Map<string, ThreadRow>();
  #first: number | null = null;
  #count = 0;

  /** With `joinApprovals`, an approval joins the row of its request. `from` is the position of the first entry. */
  constructor(order: ParameterOrderOfTool = () => null, { joinApprovals = false, from = 0 } = {}) {
    this.#count = from;
    this.#order = order;
    this.#joinApprovals = joinApprovals;
  }

  /** Adds the next entry. Returns its row: a new one, or an earlier one under the same key. */
  add(entry: Entry): RowChange {
    const own = fieldsOf(entry.body);
    const before = own['event'] === 'receipt' ? this.#messages.get(textOrJson(own['message'])) : undefined;
    const change = before ? this.#withState(before, entry, textOrJson(own['state'])) : this.#rowChangeOf(entry);
    const message = before ? textOrJson(own['message']) : messageIn(own);
    if (message !== null) this.#messages.set(message, change.row);
    return change;
  }

  #withState(before: ThreadRow, entry: Entry, state: string): RowChange {
    this.#count++;
    this.#seen.add(entry.id);
    const notes = [...before.notes, `${state}, at ${entry.at}`];
    return { row: { ...before, state, notes, entries: [...before.entries, entry] }, replaces: [] };
  }

  #rowChangeOf(entry: Entry): RowChange {
    const key = this.#count++;
    const at = Date.parse(entry.at);
    this.#first ??= at;
    const summary = summariseEntry(entry, this.#order);
    const own = fieldsOf(entry.body);
    const before = this.#open.get(entry.inReplyTo ?? '');
    if (before && joinsRow(before, summary, own)) {
      this.#open.delete(entry.inReplyTo ?? '');
      this.#seen.add(entry.id);
      const durationMs = before.durationMs ?? at - Date.parse(before.entries.at(-1)!.at);
      return this.#keep(entry, {
        ...before,
        ...summary,
        action: before.action,
        entries: [...before.entries, entry],
        durationMs,
        notes: [...new Set([...before.notes, ...summary.notes])],
      });
    }
    const row: ThreadRow = {
      ...summary,
      key,
      entries: [entry],
      after: at - this.#first,
      durationMs: null,
      depth: depthOf(entry, summary, this.#depths),
      notes: [...summary.notes, ...lostParent(entry, this.#seen)],
    };
    this.#seen.add(entry.id);
    const approval = this.#approvals.get(textOrJson(own['approval']));
    if (approval) return this.#withApproval(entry, row, approval);
    if (before?.event !== 'hop' || summary.event !== 'start') return this.#keep(entry, row);
    this.#open.delete(entry.inReplyTo ?? '');
    const [notes, entries] = [
      [...before.notes, ...row.notes],
      [...before.entries, entry],
    ];
    const action = `${row.action}, from ${textOrJson(fieldsOf(before.entries.at(-1)!.body)['from'])}`;
    return { ...this.#keep(entry, { ...row, action, notes, entries }), replaces: [before] };
  }

  #withApproval(entry: Entry, row: ThreadRow, approval: ThreadRow): RowChange {
    this.#approvals.delete(textOrJson(fieldsOf(fieldsOf(approval.entries[0]!.body)['record'])['id']));
    if (!this.#joinApprovals) {
      const { row: kept } = this.#keep(entry, row);
      return { row: kept, replaces: [] };
    }
    const entries = [...approval.entries, ...row.entries];
    const notes = [`approved ${approval.result}`, ...row.notes];
    return { ...this.#keep(entry, { ...row, notes, entries }), replaces: [approval] };
  }

  #keep(entry: Entry, row: ThreadRow): RowChange {
    const { event, mark } = row;
    if (event === 'intent' || event === 'hop' || (event === 'outcome' && mark === 'refused'))
      this.#open.set(entry.id, row);
    if (event === 'approval') {
      const noted = { ...row, notes: [...row.notes, UNUSED] };
      this.#approvals.set(textOrJson(fieldsOf(fieldsOf(entry.body)['record'])['id']), noted);
      return { row: noted, replaces: [] };
    }
    return { row, replaces: [] };
  }

  /** True if no request has used the approval of this row. */
  isUnused({ entries }: ThreadRow): boolean {
    return this.#approvals.has(textOrJson(fieldsOf(fieldsOf(entries[0]!.body)['record'])['id']));
  }
}

/** The id of the message that an entry received or sent; null if there is none. */
function messageIn({ event, id, tool, outcome }: OptionalJsonFields): string | null {
  const sent = tool === 'bell' || tool === 'whistle' ? fieldsOf(fieldsOf(outcome)['result'])['message'] : null;
  return textOf(event === 'message' ? id : sent);
}

export const textOrJson = (value: Json | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** True if an entry joins the row before it: an outcome joins its intent, a denial the call that its tool refused. */
function joinsRow(before: ThreadRow, summary: EntrySummary, own: OptionalJsonFields): boolean {
  if (summary.event === 'outcome' || summary.event === 'interrupted') return before.event === 'intent';
  if (summary.event !== 'denial' || before.mark !== 'refused' || before.event !== 'outcome') return false;
  const call = before.entries.find(({ body }) => fieldsOf(body)['event'] === 'intent');
  return fieldsOf(own['request'])['tool'] === fieldsOf(call?.body ?? null)['tool'];
}

/** A note if an entry replies to an entry that does not come before it, which shows a damaged log. */
const lostParent = ({ inReplyTo }: Entry, before: ReadonlySet<string>): readonly string[] =>
  inReplyTo === undefined || before.has(inReplyTo) ? [] : [`replies to ${inReplyTo}, which is not shown before it`];

/**
 * The depth of a row: entries of other programs are indented under the entry that they reply to; hopgate's own entries
 * are not.
 */
function depthOf(
  { id, claim, inReplyTo, forkOf, body }: Entry,
  { event }: EntrySummary,
  depths: Map<string, number>,
): number {
  const above = depths.get(inReplyTo ?? forkOf ?? '');
  const foreign = fieldsOf(body)['event'] !== event;
  const beneath = claim === 'goal' || claim === 'evidence' || forkOf !== undefined;
  const depth = above === undefined || !foreign ? 0 : beneath ? above + 1 : above;
  depths.set(id, depth);
  return depth;
}
