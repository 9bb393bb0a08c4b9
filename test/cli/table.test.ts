import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { formatTable } from '../../src/cli/table.ts';

const io = (columns?: number): Io => ({
  stdout: Object.assign(new PassThrough(), { columns }),
  stderr: new PassThrough(),
  stdin: new PassThrough(),
  isTty: true,
  env: {},
  cwd: '/',
  color: false,
  json: false,
  exitCode: 0 as const,
});

describe('a table', () => {
  const rows = [['s-1b9d6bcd', 'a refusal that needs many words to say what to do instead, and where', 'open']];

  it('wraps its widest column at the width of the terminal', () =>
    expect(formatTable(io(40), ['session', 'what', 'state'], rows).split('\n')).toEqual([
      'session     what                   state',
      's-1b9d6bcd  a refusal that needs   open',
      '            many words to say',
      '            what to do instead,',
      '            and where',
    ]));

  it('keeps each row on one line without a terminal', () =>
    expect(formatTable(io(), ['session', 'what', 'state'], rows).split('\n')).toHaveLength(2));

  it('does not wrap a styled cell', () => {
    const coloured = { ...io(20), color: true };
    const table = formatTable(coloured, ['a', 'b'], [[['red', 'x'.repeat(30)], 'some words']]);
    expect(table.split('\n')[1]).toContain(`\u001b[31m${'x'.repeat(30)}\u001b[39m`);
  });

  it('escapes invisible characters of a cell, so that no cell styles the terminal', () =>
    expect(formatTable(io(), ['a'], [['\u001b[31mred\u202e'], [['red', 'x\u0007']]])).toBe(
      'a\n\\u{1b}[31mred\\u{202e}\nx\\u{7}',
    ));

  it('fits every terminal of 40 columns or more, and keeps every word', () => {
    const wide = fc.stringMatching(/^[a-z数据订é]{1,12}$/);
    const columns = (text: string) => text.length + (text.match(/[数据订]/g)?.length ?? 0);
    const cell = fc.array(wide, { maxLength: 20 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell), { minLength: 1 }),
        fc.integer({ min: 40, max: 120 }),
        (all, room) => {
          const text = formatTable(io(room), ['a', 'b', 'c'], all);
          for (const line of text.split('\n')) expect(columns(line)).toBeLessThanOrEqual(room);
          const letters = (from: string) => [...from.replaceAll(/\s/g, '')].sort().join('');
          expect(letters(text)).toBe(letters(`abc${all.flat().join('')}`));
        },
      ),
    );
  });
});
