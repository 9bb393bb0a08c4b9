import { stripVTControlCharacters } from 'node:util';
import { visible } from '../base/text.ts';
import { type Io, paint } from './io.ts';

const width = (cell: string): number => [...stripVTControlCharacters(cell)].length;

/** The narrowest that a column becomes. */
const NARROWEST = 8;
const GAP = 2;

/**
 * Formats rows under a head as columns two spaces apart; the last column is never padded. On a terminal, the widest
 * columns are wrapped so that the table fits. Cells may contain styles; a styled cell is not wrapped. The caller must
 * escape other control characters (see {@link visible}).
 *
 * @example table(io, ['id', 'at'], [['a', 'now']]) // "id  at\na   now"
 */
export function table(io: Io, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const styled = [head.map((cell) => paint(io, 'dim', visible(cell))), ...rows];
  const widths = fitting(styled, head.length, terminalWidth(io));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - width(cell))))
      .join(' '.repeat(GAP))
      .trimEnd();
  return styled.flatMap((row) => wrapped(row, widths).map(line)).join('\n');
}

/** The width of the terminal; infinite if there is none. */
const terminalWidth = ({ stdout }: Io): number =>
  'columns' in stdout && typeof stdout.columns === 'number' && stdout.columns > 0
    ? stdout.columns
    : Number.POSITIVE_INFINITY;

/** The widths of the columns: those of their cells, or less for the widest ones if there is not enough room. */
function fitting(rows: readonly (readonly string[])[], columns: number, room: number): number[] {
  const longest = (column: number, of: (cell: string) => number): number =>
    Math.max(0, ...rows.map((row) => of(row[column] ?? '')));
  const each = Array.from({ length: columns }, (_, column) => column);
  const widths = each.map((column) => longest(column, width));
  const least = each.map((column) =>
    Math.max(
      NARROWEST,
      longest(column, (cell) => (isStyled(cell) ? width(cell) : 0)),
    ),
  );
  let excess = widths.reduce((sum, one) => sum + one, GAP * (columns - 1)) - room;
  while (excess > 0) {
    const widest = each
      .filter((column) => widths[column]! > least[column]!)
      .reduce<number | null>(
        (best, column) => (best === null || widths[column]! > widths[best]! ? column : best),
        null,
      );
    if (widest === null) break;
    widths[widest]! -= 1;
    excess -= 1;
  }
  return widths;
}

const isStyled = (cell: string): boolean => cell.length !== stripVTControlCharacters(cell).length;

/** Splits a row into as many lines as its longest cell needs. */
function wrapped(row: readonly string[], widths: readonly number[]): string[][] {
  const cells = row.map((cell, column) =>
    width(cell) <= widths[column]! || isStyled(cell) ? [cell] : broken(cell, widths[column]!),
  );
  const lines = Math.max(1, ...cells.map((cell) => cell.length));
  return Array.from({ length: lines }, (_, at) => cells.map((cell) => cell[at] ?? ''));
}

/** Wraps text into lines of at most `room` characters, between words if possible. */
export function broken(text: string, room: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  for (const word of text.split(/(?<= )/)) {
    const points = [...word];
    if (line.length > 0 && line.length + points.length - (word.endsWith(' ') ? 1 : 0) > room) {
      lines.push(line.join('').trimEnd());
      line = [];
    }
    line.push(...points);
    for (; line.slice(room).some((char) => char !== ' '); line = line.slice(room))
      lines.push(line.slice(0, room).join(''));
  }
  if (line.length > 0) lines.push(line.join('').trimEnd());
  return lines.filter((one) => one !== '');
}
