import { stripVTControlCharacters } from 'node:util';
import { visible } from '../base/text.ts';
import { type Io, paint } from './io.ts';

const width = (cell: string): number => [...stripVTControlCharacters(cell)].length;

/**
 * Formats rows under a head as columns two spaces apart; the last column is never padded. Cells may contain styles. The
 * caller must escape other control characters (see {@link visible}).
 *
 * @example table(io, ['id', 'at'], [['a', 'now']]) // "id  at\na   now"
 */
export function table(io: Io, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const styled = [head.map((cell) => paint(io, 'dim', visible(cell))), ...rows];
  const widths = head.map((_, column) => Math.max(...styled.map((row) => width(row[column] ?? ''))));
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - width(cell)))).join('  ');
  return styled.map((row) => line(row).trimEnd()).join('\n');
}
