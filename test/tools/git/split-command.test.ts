import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitSimpleCommand } from '../../../src/audit/rules/commands/audited-words.ts';
import { splitCommand } from '../../../src/gate/commands/split-command.ts';
import { depth } from '../../depth.ts';

const single = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
const double = (word: string) => `"${word.replaceAll(/[\\$"`]/g, '\\$&')}"`;
const word = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0'));

describe('splitCommand', () => {
  test.each([
    ['git status', ['git', 'status']],
    [`commit -m 'a "b" c'`, ['commit', '-m', 'a "b" c']],
    [`commit -m "a 'b' \\$c"`, ['commit', '-m', "a 'b' $c"]],
    [`a''b"c"d\\ e`, ['abcd e']],
    [`commit -m '--force; rm *'`, ['commit', '-m', '--force; rm *']],
    [`log HEAD~1 HEAD^ a@b x{y`, ['log', 'HEAD~1', 'HEAD^', 'a@b', 'x{y']],
    [`stash@{0} 'a{b,c}' d\\{e,f} g{h','i}`, ['stash@{0}', 'a{b,c}', 'd{e,f}', 'g{h,i}']],
    ['  status \\\n -s\n', ['status', '-s']],
    [`add ''`, ['add', '']],
    ['a \\', ['a', '\\']],
    ['npm run a#b', ['npm', 'run', 'a#b']],
  ])('splits %j', (text, words) => {
    expect(splitCommand(text)).toEqual({ ok: true, words });
  });

  test.each([
    'a; b',
    'a;',
    'a && b',
    'a || b',
    'a | b',
    'a |& b',
    'a &',
    'a\nb',
    '(a)',
    '{ a; }',
    '! a',
    'time a',
    'if a; then b; fi',
    'f() { a; }',
    'a > f',
    'a 2>&1',
    'a <<< b',
    'a << E\nE\n',
    '> f',
    'a <(b)',
    'a $b',
    'a $',
    'a ${b}',
    'a $(b)',
    'a "$(b)"',
    'a "${b@P}"',
    'a "`b`"',
    'a `b`',
    'a $((1))',
    "a $'b'",
    'a $"b"',
    'a *.ts',
    'a ?',
    'a [b]',
    'a [',
    'a @(b|c)',
    'a {b,c}',
    'a {},}',
    'a b=~',
    'a b=c:~',
    'a b=\\\n~',
    'a \\\n~',
    'a {1.\\\n.3}',
    'a{},}',
    `a {'b',c}`,
    'a {1..3}',
    'a ~',
    'a ~/b',
    'A=1',
    'A=1 b',
    'export A=1',
    'a # b',
    '# a',
    "a 'b",
    'a "b',
    '',
    ' \n',
    'a\0b',
    '[[ a ]]',
    '((1))',
    'coproc a',
  ])('refuses %j', (text) => {
    const split = splitCommand(text);
    expect(split.ok, JSON.stringify(split)).toBe(false);
    if (!split.ok) expect(split.reason).not.toBe('');
  });

  test.each(['a && b', 'a || b', 'a; b'])('says how to run %j', (text) =>
    expect(splitCommand(text)).toMatchObject({ reason: expect.stringContaining('run each in a call of its own') }),
  );

  test('refuses a command that is nested too deeply for the parser, and quickly reads one that repeats {,', () => {
    const nested = { ok: false, reason: 'the command is nested too deeply' };
    expect(splitCommand(`npm test ${'$(<<'.repeat(6_000)}`)).toEqual(nested);
    const braces = `npm test ${'{,'.repeat(16_000)}`;
    expect(splitCommand(braces)).toMatchObject({ ok: true });
    expect(splitSimpleCommand(braces)).toHaveLength(3);
  });

  test('returns every quoted word', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.boolean()), { minLength: 1 }), (words) => {
        const text = words.map(([value, inDouble]) => (inDouble ? double(value) : single(value))).join(' ');
        expect(splitCommand(text)).toEqual({ ok: true, words: words.map(([value]) => value) });
      }),
    );
  });

  test('refuses any text with an unquoted operator', () => {
    const operator = fc.constantFrom(
      ';',
      '&',
      '&&',
      '|',
      '||',
      '>',
      '<',
      '$x',
      '$(x)',
      '`x`',
      '*',
      '?',
      '(',
      ')',
      '\nx',
    );
    const harmless = fc.oneof(word.map(single), word.map(double), fc.stringMatching(/^[a-z-]{1,6}$/));
    fc.assert(
      fc.property(fc.array(harmless), operator, fc.array(harmless), fc.boolean(), (before, found, after, tight) => {
        const gap = tight ? '' : ' ';
        expect(splitCommand(['git', ...before].join(' ') + gap + found + gap + after.join(' ')).ok).toBe(false);
      }),
    );
  });

  test('agrees with bash on every text that it accepts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hopgate-split-'));
    const piece = fc.constantFrom(
      'a',
      'b',
      ' ',
      "'",
      '"',
      '\\',
      '\\\n',
      '$',
      ';',
      '#',
      '~',
      '{',
      '}',
      ',',
      '=',
      '!',
      '^',
      '\t',
      '*',
      '&',
      '-',
    );
    let accepted = 0;
    try {
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
          const text = `:a ${pieces.join('')}`;
          const split = splitCommand(text);
          if (!split.ok) return;
          accepted++;
          const options = { cwd: folder, env: { HOME: '/nowhere' }, encoding: 'utf8' } as const;
          const shown = execFileSync('/bin/bash', ['--norc', '-c', `printf '%s\\0' ${text}`], options);
          expect(split.words).toEqual(shown.split('\0').slice(0, -1));
        }),
        { numRuns: depth(40, 600) },
      );
      expect(accepted).toBeGreaterThan(depth(1, 20));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
