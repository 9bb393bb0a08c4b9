import { fieldsOf } from '../../base/json.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { Json } from '../../spec/types.ts';
import type { OptionalFields } from './in-short.ts';
import type { ParameterOrder } from './spell-call.ts';
import { type EntrySummary, tell } from './tell.ts';

/** A line of a thread: one entry, or several that belong together (an intent and its outcome, a hop and its start). */
export interface Row extends EntrySummary {
  readonly entries: readonly Entry[];
  /** Milliseconds since the first entry; NaN if a time cannot be parsed. */
  readonly after: number;
  /** Milliseconds from the intent to the outcome. */
  readonly took: number | null;
  /** Its depth in the tree of replies; 0 for the session's own actions. */
  readonly depth: number;
}

/** One stay in a peripheral. */
export interface ThreadVisit {
  readonly peripheral: string;
  readonly start: Row;
  readonly rows: readonly Row[];
  /** null while it goes on. */
  readonly stop: Row | null;
}

/** Arranges the entries of a thread for a person: events between visits, and visits with their events. */
export function outline(entries: readonly Entry[], order: ParameterOrder = () => null): readonly (Row | ThreadVisit)[] {
  const first = Date.parse(entries[0]?.at ?? '');
  const used = new Set(entries.map(({ body }) => fieldsOf(body)['approval']));
  const ids = new Set<string>();
  const depths = new Map<string, number>();
  const rows = new Map<string, { -readonly [key in keyof Row]: Row[key] }>();
  const items: (Row | ThreadVisit)[] = [];
  let visit: { -readonly [key in keyof ThreadVisit]: ThreadVisit[key] } | null = null;
  let inVisit: Row[] = [];

  for (const entry of entries) {
    const summary = tell(entry, order);
    const own = fieldsOf(entry.body);
    const before = rows.get(entry.inReplyTo ?? '');
    if (before !== undefined && joins(before, summary, own)) {
      const { event: _, what: __, ...came } = summary;
      Object.assign(before, came, {
        event: summary.event,
        entries: [...before.entries, entry],
        took: before.took ?? Date.parse(entry.at) - Date.parse(before.entries[0]!.at),
        notes: [...new Set([...before.notes, ...summary.notes])],
      });
      rows.set(entry.id, before);
      ids.add(entry.id);
      continue;
    }
    const row = {
      ...summary,
      entries: [entry],
      after: Date.parse(entry.at) - first,
      took: null,
      depth: depthOf(entry, summary, depths),
      notes: [...summary.notes, ...lost(entry, ids), ...unused(summary, own, used)],
    };
    ids.add(entry.id);
    rows.set(entry.id, row);
    if (summary.event === 'start') {
      const hop = items.at(-1);
      const led =
        hop !== undefined && 'what' in hop && hop.event === 'hop' && entry.inReplyTo === hop.entries.at(-1)?.id;
      if (led) items.pop();
      const start = led
        ? {
            ...row,
            what: `${row.what}, from ${text(fieldsOf(hop.entries[0]!.body)['from'])}`,
            notes: [...hop.notes, ...row.notes],
            entries: [...hop.entries, entry],
          }
        : row;
      inVisit = [];
      visit = { peripheral: text(own['peripheral']), start, rows: inVisit, stop: null };
      items.push(visit);
    } else if (summary.event === 'stop' && visit !== null) {
      visit.stop = row;
      visit = null;
    } else if (visit !== null) inVisit.push(row);
    else items.push(row);
  }
  return items;
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Joins an outcome to its intent, and the denial from a tool's own refusal to that call. */
function joins(before: Row, summary: EntrySummary, own: OptionalFields): boolean {
  if (summary.event === 'outcome' || summary.event === 'interrupted') return before.event === 'intent';
  if (summary.event !== 'denial' || before.mark !== 'refused' || before.event !== 'outcome') return false;
  return fieldsOf(own['request'])['tool'] === fieldsOf(before.entries[0]!.body)['tool'];
}

/** Parents that are not among the earlier entries, so that damaged input is visible as such. */
const lost = ({ inReplyTo }: Entry, before: ReadonlySet<string>): readonly string[] =>
  inReplyTo === undefined || before.has(inReplyTo) ? [] : [`replies to ${inReplyTo}, which is not shown before it`];

const unused = (
  { event }: EntrySummary,
  { record }: OptionalFields,
  used: ReadonlySet<Json | undefined>,
): readonly string[] => (event === 'approval' && !used.has(fieldsOf(record)['id']) ? ['never used'] : []);

/** Indents a message of others under the entry that it replies to; the session's actions stay in their visit. */
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
