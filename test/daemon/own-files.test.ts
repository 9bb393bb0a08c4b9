import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteShell } from '../../src/base/text.ts';
import { decodeHeader, encodeHeader } from '../../src/daemon/header-text.ts';
import { isWriteProtected } from '../../src/gate/scope/masks.ts';
import { runProgram } from './processes.ts';

describe('a path in an HTTP header', () => {
  it('reads back unchanged, and contains no line break', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(text.isWellFormed());
        expect(encodeHeader(text)).toMatch(/^[\x21-\x7e]*$/);
        expect(decodeHeader(encodeHeader(text))).toBe(text);
      }),
    );
  });
});

describe('a quoted word of a shell', () => {
  it('is one word with the same text', async () => {
    for (const word of ["it's", '$(id)', 'a b', '', '`x`', '"', '\\', 'ä\n'])
      expect((await runProgram('/bin/sh', ['-c', `printf %s ${quoteShell(word)}`], {})).stdout).toBe(word);
  });
});

describe('a file of hopgate’s own in a root', () => {
  it.each([
    ['node_modules/hopgate', true],
    ['node_modules/hopgate/dist/hook/main.cjs', true],
    ['a/node_modules/HOPGATE/x', true],
    ['node_modules/.bin/hopgate', true],
    ['node_modules/.pnpm/hopgate@1/node_modules/hopgate/x', true],
    ['node_modules/hopgate-else/x', false],
    ['node_modules/.bin/vitest', false],
    ['src/hopgate/x', false],
  ])('is recognised by its path %s: %s', (path, is) => {
    expect(isWriteProtected(path)).toBe(is);
  });
});
