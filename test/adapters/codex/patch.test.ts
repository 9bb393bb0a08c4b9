import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PatchChange, parsePatch } from '../../../src/adapters/codex/patch.ts';

const path = fc.stringMatching(/^[a-z]{1,8}(?:\/[a-z ]{0,5}[a-z.]{1,8}){0,3}$/);
const line = fc.stringMatching(/^[ -~]{0,20}$/);
const lines = fc.array(line, { minLength: 1, maxLength: 5 });
const hunk = fc
  .record({ context: fc.array(line, { maxLength: 2 }), old: lines, new: lines })
  .filter((one) => one.old.join('\n') !== one.new.join('\n'));
const change = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), path, lines: fc.array(line, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('delete' as const), path }),
  fc.record({
    kind: fc.constant('update' as const),
    path,
    moveTo: fc.option(path),
    hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }),
  }),
);
type Made = typeof change extends fc.Arbitrary<infer T> ? T : never;

const printed = (made: Made): string[] => {
  if (made.kind === 'add') return [`*** Add File: ${made.path}`, ...made.lines.map((text) => `+${text}`)];
  if (made.kind === 'delete') return [`*** Delete File: ${made.path}`];
  return [
    `*** Update File: ${made.path}`,
    ...(made.moveTo === null ? [] : [`*** Move to: ${made.moveTo}`]),
    ...made.hunks.flatMap((one) => [
      '@@',
      ...one.context.map((text) => ` ${text}`),
      ...one.old.map((text) => `-${text}`),
      ...one.new.map((text) => `+${text}`),
    ]),
  ];
};

const meant = (made: Made): PatchChange => {
  if (made.kind === 'add')
    return { kind: 'add', path: made.path, content: made.lines.map((text) => `${text}\n`).join('') };
  if (made.kind === 'delete') return made;
  const hunks = made.hunks.map((one) => ({
    old: [...one.context, ...one.old].join('\n'),
    new: [...one.context, ...one.new].join('\n'),
  }));
  return { kind: 'update', path: made.path, moveTo: made.moveTo, hunks };
};

const patch = (text: readonly string[]): string => ['*** Begin Patch', ...text, '*** End Patch'].join('\n');

describe('a patch', () => {
  test('every change that was printed is read back', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        expect(parsePatch(patch(changes.flatMap(printed)))).toEqual({ ok: true, changes: changes.map(meant) });
      }),
    );
  });

  test('whatever line is slipped in, no header of it is missed', () => {
    fc.assert(
      fc.property(change, fc.nat(), fc.constantFrom(' ', '\t', '  ', '+', '-'), path, (made, at, before, hidden) => {
        const text = printed(made);
        const place = 1 + (at % text.length);
        const slipped = [...text.slice(0, place), `${before}*** Delete File: ${hidden}`, ...text.slice(place)];
        const read = parsePatch(patch(slipped));
        // Either it is not understood, or the line stands as text where Codex takes it for text: behind a mark, within a hunk or a new file.
        if (!read.ok) return;
        expect(read.changes.filter(({ kind }) => kind === 'delete')).toHaveLength(made.kind === 'delete' ? 1 : 0);
        expect(before === '\t').toBe(false);
        if (made.kind === 'add') expect(before).toBe('+');
      }),
    );
  });

  test.each([
    ['no begin', 'x\n*** End Patch'],
    ['no end', '*** Begin Patch\n*** Delete File: a'],
    ['nothing in it', '*** Begin Patch\n*** End Patch'],
    ['a header that is indented', patch([' *** Delete File: a'])],
    ['a header behind a new file', patch(['*** Add File: a', '+x', ' *** Delete File: b'])],
    ['an update without a hunk', patch(['*** Update File: a'])],
    ['an update that changes nothing', patch(['*** Update File: a', '@@', ' a'])],
    ['a kind of header that we do not know', patch(['*** Environment ID: x', '*** Delete File: a'])],
    ['a path of blanks', patch(['*** Delete File:   '])],
    ['carriage returns', '*** Begin Patch\r\n*** Delete File: a\r\n*** End Patch'],
    ['two patches', `${patch(['*** Delete File: a'])}\n${patch(['*** Delete File: b'])}`],
  ])('%s is a problem', (_, text) => {
    expect(parsePatch(text)).toMatchObject({ ok: false });
  });

  test('an empty line in a hunk is an empty line', () => {
    const read = parsePatch(patch(['*** Update File: a', '@@ fn f', ' x', '', '-y', '+z', '*** End of File']));
    expect(read).toMatchObject({ changes: [{ hunks: [{ old: 'x\n\ny', new: 'x\n\nz' }] }] });
  });
});
