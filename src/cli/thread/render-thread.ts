import { escapeInvisible } from '../../base/text.ts';
import type { CallOutcomeMark } from '../../view/entry-summary.ts';
import { formatDuration, formatOffset } from '../../view/format-time.ts';
import type { ThreadVisit } from '../../view/outline-thread.ts';
import type { ThreadRow } from '../../view/thread-rows.ts';
import { type Io, paint, type TextStyle } from '../io.ts';
import { textWidth, wrapText } from '../table.ts';

const MARKS: { readonly [mark in CallOutcomeMark]: readonly [sign: string, style: TextStyle] } = {
  ok: ['✓', 'green'],
  failed: ['!', 'yellow'],
  refused: ['✗', 'red'],
  unknown: ['?', 'yellow'],
};
const MAX_DEPTH = 12;
const MIN_COLUMNS = 60;

/** Renders a thread for a terminal with this many columns: visits as blocks, lines wrapped at words, nothing cut. */
export function renderThread(io: Io, items: readonly (ThreadRow | ThreadVisit)[], columns: number): string {
  const wide = Math.max(MIN_COLUMNS, columns);
  const times = items.flatMap((item) => (isVisit(item) ? [item.start, ...item.rows, item.stop] : [item]));
  const margin = 2 + Math.max(0, ...times.map((row) => (row === null ? 0 : formatOffset(row.after).length)));
  const lines = (row: ThreadRow, indent: string, further: string, style?: TextStyle): string[] =>
    rowLines(io, row, { wide, margin, indent, laterIndent: further, ...(style === undefined ? {} : { style }) });
  return items
    .flatMap((item) => {
      if (!isVisit(item)) return lines(item, '', '');
      const bar = paint(io, 'cyan', '│');
      return [
        ...lines(item.start, `${paint(io, 'cyan', '┌')} `, `${bar} `, ['bold', 'cyan']),
        ...item.rows.flatMap((row) => lines(row, `${bar} `, `${bar} `)),
        ...(item.stop === null
          ? [`${' '.repeat(margin)}${paint(io, 'cyan', '╵')} ${paint(io, 'dim', 'continues')}`]
          : lines(item.stop, `${paint(io, 'cyan', '└')} `, '  ')),
      ];
    })
    .join('\n');
}

const isVisit = (item: ThreadRow | ThreadVisit): item is ThreadVisit => 'start' in item;

interface Frame {
  readonly wide: number;
  readonly margin: number;
  /** The text before the first line; `laterIndent` is the text before each further line. */
  readonly indent: string;
  readonly laterIndent: string;
  readonly style?: TextStyle;
}

function rowLines(io: Io, row: ThreadRow, { wide, margin, indent, laterIndent: further, style }: Frame): string[] {
  const { mark, depth } = row;
  const [sign, color] = mark === null ? ['', 'dim' as TextStyle] : MARKS[mark];
  const deep = '  '.repeat(Math.min(depth, MAX_DEPTH));
  const lead = sign === '' ? '' : `${paint(io, color, sign)} `;
  const laterLead = sign === '' ? '  ' : '    ';
  const room = wide - margin - textWidth(indent) - textWidth(deep) - textWidth(lead);
  const action = escapeInvisible(row.action);
  const took = row.durationMs !== null && row.durationMs >= 1000 ? `  (${formatDuration(row.durationMs)})` : '';
  const outcome = escapeInvisible(row.result) + took;
  const head = style === undefined ? (x: string) => x : (x: string) => paint(io, style, x);
  const paintOutcome = (x: string): string => paint(io, mark === null || mark === 'ok' ? 'dim' : color, x);

  const start = `${formatOffset(row.after).padStart(margin - 2)}  `;
  const blank = ' '.repeat(margin);
  const lines: string[] = [];
  const add = (line: string): void => {
    const prefix = lines.length === 0 ? `${paint(io, 'dim', start)}${indent}` : `${blank}${further}`;
    lines.push(`${prefix}${deep}${lines.length === 0 ? lead : ''}${line}`.trimEnd());
  };
  const fits = textWidth(action) + 2 + textWidth(outcome) <= room;
  if (fits) add(`${head(action)}${outcome === '' ? '' : `  ${paintOutcome(outcome)}`}`);
  else {
    const [one = '', ...more] = wrapText(action, room - 2);
    add(head(one));
    for (const line of more) add(`${laterLead}${head(line)}`);
    for (const line of wrapText(outcome, room - 4)) add(`${laterLead}${paintOutcome(line)}`);
  }
  for (const note of row.notes)
    for (const line of wrapText(escapeInvisible(note), room - 4)) add(`${laterLead}${paint(io, 'dim', line)}`);
  return lines;
}
