import { stripVTControlCharacters } from 'node:util';
import { escapeInvisible } from '../base/text.ts';
import { type Io, paint, print, type TextStyle } from './io.ts';

export type TableCell = string | readonly [style: TextStyle, text: string];

/** The number of columns that text takes on a terminal: two for most East Asian characters and emoji. */
export function textWidth(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  return [...plain].reduce((sum, char) => sum + (NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1), 0);
}

const NO_WIDTH = /^[\p{Mn}\p{Me}]$/u;
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$/u;

/** Minimum width of a column that is wrapped. */
const MIN_COLUMN = 8;
const GAP = 2;

/**
 * Formats rows under a head as columns two spaces apart; the last column is never padded. On a terminal, the widest
 * columns are wrapped so that the table fits; a styled cell is not wrapped. Invisible characters of cells are escaped.
 *
 * @example formatTable(io, ['id', 'at'], [['a', 'now']]) // "id  at\na   now"
 */
export function formatTable(io: Io, head: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const styled = [head.map((cell): TableCell => ['dim', cell]), ...rows].map((row) =>
    row.map((cell) =>
      typeof cell === 'string' ? escapeInvisible(cell) : paint(io, cell[0], escapeInvisible(cell[1])),
    ),
  );
  const widths = columnWidths(styled, head.length, terminalColumns(io, Number.POSITIVE_INFINITY));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - textWidth(cell))))
      .join(' '.repeat(GAP))
      .trimEnd();
  return styled.flatMap((row) => wrapRow(row, widths).map(line)).join('\n');
}

/** Prints the table that {@link formatTable} returns. */
export const printTable = (...table: Parameters<typeof formatTable>): void => print(table[0], formatTable(...table));

/** The width of the terminal; `otherwise` if there is none. */
export const terminalColumns = ({ stdout }: Io, otherwise = 120): number =>
  'columns' in stdout && typeof stdout.columns === 'number' && stdout.columns > 0 ? stdout.columns : otherwise;

/**
 * The width of each column: the width of its widest cell, or less for the widest columns if the terminal is too narrow.
 */
function columnWidths(rows: readonly (readonly string[])[], columns: number, available: number): number[] {
  const longest = (column: number, of: (cell: string) => number): number =>
    Math.max(0, ...rows.map((row) => of(row[column] ?? '')));
  const each = Array.from({ length: columns }, (_, column) => column);
  const widths = each.map((column) => longest(column, textWidth));
  const styledWidth = (cell: string): number => (isStyled(cell) ? textWidth(cell) : 0);
  const least = each.map((column) => Math.max(MIN_COLUMN, longest(column, styledWidth)));
  let excess = widths.reduce((sum, width) => sum + width, GAP * (columns - 1)) - available;
  while (excess > 0) {
    const shrinkable = each.filter((column) => widths[column]! > least[column]!);
    const [widest] = shrinkable.toSorted((a, b) => widths[b]! - widths[a]!);
    if (widest === undefined) break;
    widths[widest]! -= 1;
    excess -= 1;
  }
  return widths;
}

const isStyled = (cell: string): boolean => cell.length !== stripVTControlCharacters(cell).length;

/** Splits a row into as many lines as its longest cell needs. */
function wrapRow(row: readonly string[], widths: readonly number[]): string[][] {
  const cells = row.map((cell, column) =>
    textWidth(cell) <= widths[column]! || isStyled(cell) ? [cell] : wrapText(cell, widths[column]!),
  );
  const lines = Math.max(1, ...cells.map((cell) => cell.length));
  return Array.from({ length: lines }, (_, at) => cells.map((cell) => cell[at] ?? ''));
}

/** Wraps text into lines of at most `room` columns, between words if possible. */
export function wrapText(text: string, room: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (textWidth(line + word.trimEnd()) > room) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
    while (textWidth(line.trimEnd()) > room) {
      const head = headOf(line, room);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  return [...lines, line.trimEnd()].filter((each) => each !== '');
}

/** As much of a text as fits into `room` columns, and at least one character. */
function headOf(text: string, room: number): string {
  let head = '';
  for (const char of text) {
    if (head !== '' && textWidth(head + char) > room) break;
    head += char;
  }
  return head;
}
