import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatDuration, formatOffset } from '../view/format-time.ts';
import type { EntryRow } from '../view/view-state.ts';
import { effectOfNode } from './graph.tsx';
import type { SessionOnPage } from './page-data.ts';
import { matchingRows } from './row-filters.ts';
import { useViewChoices } from './view-choices.ts';

const HEIGHT = { row: 30, start: 42, refused: 52 };
const heightOf = ({ event, remedy }: EntryRow): number =>
  remedy !== undefined ? HEIGHT.refused : event === 'start' ? HEIGHT.start : HEIGHT.row;

/** The vertical position of the top of each row, and of the end of the list. */
function topsOf(rows: readonly EntryRow[]): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  for (let index = 0; index < rows.length; index++) tops[index + 1] = tops[index]! + heightOf(rows[index]!);
  return tops;
}

/** The last index whose top is at or above `y`. */
function indexAt(tops: Float64Array, y: number): number {
  let low = 0;
  let high = tops.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (tops[middle]! <= y) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

const OVERSCAN_ROWS = 8;

/** The rows of a session. Only the visible ones are in the document. */
export function SessionRows({ session }: { readonly session: SessionOnPage }) {
  const { store } = session;
  const { rowText, rowFilter } = useViewChoices();
  const scroller = useRef<HTMLDivElement>(null);
  const scroll = useSignal({ top: 0, height: 600 });
  const shown = useComputed(() => matchingRows(store.rows.value, rowText.value, rowFilter.value));
  const tops = useComputed(() => topsOf(shown.value));
  const current = useComputed(() => store.rowAt(store.at.value)?.key ?? -1);
  const rows = shown.value;
  const selected = rows.findIndex(({ key }) => key === current.value);

  useLayoutEffect(() => {
    const element = scroller.current!;
    const measure = () => {
      scroll.value = { top: element.scrollTop, height: element.clientHeight };
    };
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    measure();
    return () => watcher.disconnect();
  }, [scroll]);

  // Keeps the selected row visible; at the newest entry the list follows new rows.
  useLayoutEffect(() => {
    const element = scroller.current!;
    if (selected < 0) return;
    const [top, bottom] = [tops.value[selected]!, tops.value[selected + 1]!];
    if (store.cursor.value === null && selected === rows.length - 1) element.scrollTop = element.scrollHeight;
    else if (top < element.scrollTop) element.scrollTop = top - 2 * HEIGHT.start;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  }, [selected, rows.length, store.cursor.value, scroll.value.height, tops, store]);

  const from = Math.max(0, indexAt(tops.value, scroll.value.top) - OVERSCAN_ROWS);
  const to = Math.min(rows.length, indexAt(tops.value, scroll.value.top + scroll.value.height) + 1 + OVERSCAN_ROWS);
  const go = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row) store.goTo(row);
  };
  const keys: { readonly [key: string]: () => void } = {
    ArrowDown: () => go(selected + 1),
    ArrowUp: () => go(selected - 1),
    PageDown: () => go(selected + 15),
    PageUp: () => go(selected - 15),
    Home: () => go(0),
    End: () => go(rows.length - 1),
  };
  return (
    <div
      class="rows"
      ref={scroller}
      role="listbox"
      aria-label={`Entries, ${rows.length}`}
      aria-activedescendant={selected >= from && selected < to ? `row-${current.value}` : undefined}
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        scroll.value = { top: currentTarget.scrollTop, height: currentTarget.clientHeight };
      }}
      onKeyDown={(event) => {
        const act = keys[event.key];
        if (!act) return;
        event.preventDefault();
        act();
      }}
    >
      {rows.length === 0 && <p class="none">No entry matches.</p>}
      <div class="whole" style={{ height: `${tops.value.at(-1)}px` }} role="presentation">
        {rows.slice(from, to).map((row, index) => (
          <RowLine
            key={row.key}
            row={row}
            session={session}
            top={tops.value[from + index]!}
            selected={row.key === current.value}
            index={from + index + 1}
            of={rows.length}
          />
        ))}
      </div>
    </div>
  );
}

const SIGNS = { ok: '✓', failed: '!', refused: '✗', unknown: '…' } as const;
const WORDS = { ok: 'done', failed: 'failed', refused: 'refused', unknown: 'no outcome yet' } as const;

interface LineProps {
  readonly row: EntryRow;
  readonly session: SessionOnPage;
  readonly top: number;
  readonly selected: boolean;
  readonly index: number;
  readonly of: number;
}

function RowLine({ row, session, top, selected, index, of }: LineProps) {
  const { store, graph } = session;
  const { key, event, mark, action, result, remedy, durationMs, depth = 0, peripheral, wouldRefuse, state } = row;
  const start = store.frames[0]?.at ?? row.at;
  const isLater = useComputed(() => key > (store.frames[store.at.value]?.seq ?? 0)).value;
  const kind = [
    'row',
    `is-${event}`,
    mark ?? '',
    wouldRefuse === undefined ? '' : 'would',
    peripheral === null ? '' : `visit ${effectOfNode(graph, peripheral)}`,
    selected ? 'selected' : '',
    isLater ? 'later' : '',
  ];
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list box has the focus and names the active option
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list box handles the keys
    <div
      id={`row-${key}`}
      class={kind.join(' ')}
      role="option"
      aria-selected={selected}
      aria-posinset={index}
      aria-setsize={of}
      style={{ transform: `translateY(${top}px)`, height: `${heightOf(row)}px` }}
      onClick={() => store.goTo(row)}
    >
      <time>{formatOffset(row.at - start)}</time>
      <span class="mark" title={mark ? WORDS[mark] : undefined}>
        {mark ? SIGNS[mark] : ''}
      </span>
      <span class="text" style={depth > 0 ? { marginLeft: `${Math.min(depth, 8) * 1.2}em` } : {}}>
        {state !== undefined && <span class="state">{state}</span>} <span class="action">{action}</span>{' '}
        {result !== undefined && <span class="result">{result}</span>}
        {durationMs !== undefined && durationMs >= 1000 && (
          <span class="duration"> ({formatDuration(durationMs)})</span>
        )}
        {remedy !== undefined && (
          <span class="remedy">
            {wouldRefuse !== undefined && <b>would be refused: {wouldRefuse} </b>}→ {remedy}
          </span>
        )}
      </span>
    </div>
  );
}
