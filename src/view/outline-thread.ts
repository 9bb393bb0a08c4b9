import type { Entry } from '../evidence/entry.ts';
import type { ParameterOrderOfTool } from './format-call.ts';
import { type ThreadRow, ThreadRows } from './thread-rows.ts';

export interface ThreadVisit {
  readonly start: ThreadRow;
  readonly rows: readonly ThreadRow[];
  /** The row of the stop that ended the visit; null if the visit has not ended. */
  readonly stop: ThreadRow | null;
}

/** Arranges the entries of a thread for a person: the rows outside of visits, and the visits with their rows. */
export function outlineVisits(
  entries: readonly Entry[],
  order: ParameterOrderOfTool = () => null,
): readonly (ThreadRow | ThreadVisit)[] {
  const thread = new ThreadRows(order);
  const rows = new Map<number, ThreadRow>();
  for (const entry of entries) {
    const { row, replaces } = thread.add(entry);
    for (const { key } of replaces) rows.delete(key);
    rows.set(row.key, row);
  }
  const items: (ThreadRow | ThreadVisit)[] = [];
  let visit: { -readonly [key in keyof ThreadVisit]: ThreadVisit[key] } | null = null;
  let inVisit: ThreadRow[] = [];
  for (const one of rows.values()) {
    const row = one.event === 'approval' && !thread.isUnused(one) ? { ...one, notes: one.notes.slice(0, -1) } : one;
    if (row.event === 'start') {
      inVisit = [];
      visit = { start: row, rows: inVisit, stop: null };
      items.push(visit);
    } else if (row.event === 'stop' && visit !== null) {
      visit.stop = row;
      visit = null;
    } else if (visit !== null) inVisit.push(row);
    else items.push(row);
  }
  return items;
}
