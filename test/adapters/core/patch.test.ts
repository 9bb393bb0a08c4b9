import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PatchFile, parsePatch } from '../../../src/adapters/core/calls/patch.ts';

const path = fc
  .string({ minLength: 1, maxLength: 20 })
  .filter(
    (text) => text.trim() === text && text !== '' && !/^~(?:\/|$)/.test(text) && !/[\n\r\u2028\u2029]/.test(text),
  );
const line = fc.string({ maxLength: 20 }).filter((text) => !text.includes('\n'));
const asLines = (lines: readonly string[]) => lines.map((one) => `${one}\n`).join('');

const change = fc.record({
  before: fc.array(line, { maxLength: 3 }),
  gone: fc.array(line, { maxLength: 3 }),
  come: fc.array(line, { maxLength: 3 }),
  after: fc.array(line, { maxLength: 3 }),
  at: fc.option(line.filter((text) => text !== '')),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
const isOne = ({ before, gone, come, after }: Change) => [before, gone, come, after].flat().length > 0;

const file = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), path, lines: fc.array(line, { minLength: 1 }) }),
  fc.record({ kind: fc.constant('delete' as const), path }),
  fc.record({
    kind: fc.constant('update' as const),
    path,
    moveTo: fc.option(path),
    changes: fc.array(change.filter(isOne), { minLength: 1, maxLength: 3 }),
  }),
);
type File = typeof file extends fc.Arbitrary<infer T> ? T : never;

function written(one: File): string {
  if (one.kind === 'add') return `*** Add File: ${one.path}\n${one.lines.map((text) => `+${text}\n`).join('')}`;
  if (one.kind === 'delete') return `*** Delete File: ${one.path}\n`;
  const hunks = one.changes.map(({ at, before, gone, come, after }) => {
    const lines = [
      ...before.map((t) => ` ${t}`),
      ...gone.map((t) => `-${t}`),
      ...come.map((t) => `+${t}`),
      ...after.map((t) => ` ${t}`),
    ];
    return `@@${at === null ? '' : ` ${at}`}\n${asLines(lines)}`;
  });
  return `*** Update File: ${one.path}\n${one.moveTo === null ? '' : `*** Move to: ${one.moveTo}\n`}${hunks.join('')}`;
}

function meant(one: File): PatchFile {
  if (one.kind === 'add') return { kind: 'add', path: one.path, content: asLines(one.lines) };
  if (one.kind === 'delete') return one;
  const hunks = one.changes.map(({ at, before, gone, come, after }) => ({
    at,
    old: asLines([...before, ...gone, ...after]),
    new: asLines([...before, ...come, ...after]),
  }));
  return { kind: 'update', path: one.path, moveTo: one.moveTo, hunks };
}

const distinct = (files: readonly File[]) => {
  const paths = files.flatMap((one) => [
    one.path,
    ...(one.kind === 'update' && one.moveTo !== null ? [one.moveTo] : []),
  ]);
  return new Set(paths).size === paths.length;
};
const patch = fc.array(file, { minLength: 1, maxLength: 4 }).filter(distinct);
const envelope = (files: readonly File[]) => `*** Begin Patch\n${files.map(written).join('')}*** End Patch`;

describe('the patch envelope', () => {
  it('reads back as written, whatever its lines contain', () => {
    fc.assert(
      fc.property(patch, fc.constantFrom('', '\n'), (files, end) => {
        expect(parsePatch(envelope(files) + end)).toEqual({ ok: true, files: files.map(meant) });
      }),
    );
  });

  it('yields every file that any of its lines could name', () => {
    fc.assert(
      fc.property(
        patch,
        fc.nat(),
        fc.constantFrom(
          '',
          '*** Add File: evil',
          '*** Delete File: evil',
          '*** Move to: evil',
          'evil',
          '*** End Patch',
          '@@',
          '*** Update File: evil',
        ),
        (files, where, extra) => {
          const lines = envelope(files).split('\n');
          lines.splice(where % (lines.length + 1), 0, extra);
          const parsed = parsePatch(lines.join('\n'));
          // An inserted line is a problem, or the files that it touches are reported.
          if (!parsed.ok || !extra.endsWith('evil')) return;
          const paths = parsed.files.flatMap((one) => [one.path, one.kind === 'update' ? one.moveTo : null]);
          expect(paths).toContain('evil');
        },
      ),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void parsePatch(text)));
    fc.assert(fc.property(fc.string(), (text) => void parsePatch(`*** Begin Patch\n${text}\n*** End Patch`)));
  });

  const wrong: readonly [string, string, number][] = [
    ['nothing', '', 1],
    ['no begin', 'hello', 1],
    ['no end', '*** Begin Patch\n*** Delete File: a', 2],
    ['no file', '*** Begin Patch\n*** End Patch', 1],
    ['text before the first file', '*** Begin Patch\nhello\n*** Delete File: a\n*** End Patch', 2],
    ['text after a deletion', '*** Begin Patch\n*** Delete File: a\n+x\n*** End Patch', 3],
    ['a new file without lines', '*** Begin Patch\n*** Add File: a\n*** End Patch', 3],
    ['a new file with another line', '*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch', 4],
    ['an update of nothing', '*** Begin Patch\n*** Update File: a\n*** End Patch', 3],
    ['a line without a sign', '*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch', 4],
    ['an empty line', '*** Begin Patch\n*** Update File: a\n@@\n-a\n\n+b\n*** End Patch', 5],
    ['a last @@', '*** Begin Patch\n*** Update File: a\n-a\n@@\n*** End Patch', 4],
    [
      'a second envelope',
      '*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n*** End Patch',
      3,
    ],
    ['a file twice', '*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+x\n*** End Patch', 1],
    ['lines after the end of file', '*** Begin Patch\n*** Update File: a\n-a\n*** End of File\n+b\n*** End Patch', 5],
    ['a move in the middle', '*** Begin Patch\n*** Update File: a\n-a\n*** Move to: b\n*** End Patch', 4],
    ['blanks around a path', '*** Begin Patch\n*** Delete File: a \n*** End Patch', 2],
    ['a path in the home folder', '*** Begin Patch\n*** Delete File: ~/a\n*** End Patch', 2],
    ['a move to the home folder', '*** Begin Patch\n*** Update File: a\n*** Move to: ~/a\n*** End Patch', 3],
  ];
  it.each(wrong)('with %s is refused with its line number', (_what, text, at) => {
    expect(parsePatch(text)).toMatchObject({ ok: false, line: at, why: expect.any(String) });
  });

  it('may only move a file, or have several @@ lines for one location', () => {
    expect(parsePatch('*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch')).toMatchObject({
      files: [{ moveTo: 'b', hunks: [] }],
    });
    expect(
      parsePatch('*** Begin Patch\n*** Update File: a\n@@ class A\n@@ f()\n-x\n+y\n*** End of File\n*** End Patch'),
    ).toEqual({
      ok: true,
      files: [{ kind: 'update', path: 'a', moveTo: null, hunks: [{ at: 'f()', old: 'x\n', new: 'y\n' }] }],
    });
  });
});
