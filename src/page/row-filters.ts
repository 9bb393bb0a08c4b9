import type { EntryRow } from '../view/view-state.ts';

export const ROW_FILTERS = {
  all: { label: 'Everything', matches: () => true },
  refused: {
    label: 'Refused',
    matches: ({ mark, wouldRefuse }: EntryRow) => mark === 'refused' || wouldRefuse !== undefined,
  },
  changed: {
    label: 'Changes and failures',
    matches: ({ event, mark }: EntryRow) => event === 'outcome' || event === 'interrupted' || mark === 'failed',
  },
  moves: {
    label: 'Hops and modes',
    matches: ({ event }: EntryRow) => ['start', 'stop', 'mode', 'session-open', 'session-closed'].includes(event),
  },
  approvals: {
    label: 'Approvals',
    matches: ({ event, notes = [] }: EntryRow) =>
      event === 'approval' || notes.some((note) => note.startsWith('approved ')),
  },
  messages: {
    label: 'Messages',
    matches: ({ event, tool }: EntryRow) =>
      event === 'message' || event === 'note' || tool === 'bell' || tool === 'whistle',
  },
} as const;

export type RowFilter = keyof typeof ROW_FILTERS;

/** The rows of a kind that have every word of the search in their tool, paths, denial code or text. */
export function matchingRows(rows: readonly EntryRow[], text: string, kind: RowFilter): readonly EntryRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && kind === 'all') return rows;
  return rows.filter((row) => {
    if (!ROW_FILTERS[kind].matches(row)) return false;
    const { tool = '', code = '', action, result = '', paths = [], peripheral } = row;
    const inRow = [tool, code, action, result, peripheral ?? '', ...paths].join('\n').toLowerCase();
    return words.every((word) => inRow.includes(word));
  });
}
