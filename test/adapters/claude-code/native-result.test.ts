import { describe, expect, it } from 'vitest';
import { toNativeFailure, toNativeOutcome } from '../../../src/adapters/claude-code/native-result.ts';

/** Responses as Claude Code 2.1.328 gave them to a hook. */
const edit = {
  filePath: '/repo/new.txt',
  oldString: 'hello',
  newString: 'bye',
  originalFile: 'hello hello',
  structuredPatch: [],
  userModified: false,
  replaceAll: false,
};

describe('the client’s report of a call’s result', () => {
  it.each([
    [
      'read',
      {
        type: 'text',
        file: { filePath: '/repo/a.txt', content: 'one\ntwo', numLines: 2, startLine: 3, totalLines: 9 },
      },
      { path: 'a.txt', content: 'one\ntwo', from: 3, lines: 9 },
    ],
    ['edit', edit, { path: 'new.txt', replacements: 1 }],
    ['edit', { ...edit, replaceAll: true }, { path: 'new.txt', replacements: 2 }],
    [
      'write',
      { type: 'create', filePath: '/repo/src/new.txt', content: 'hällo', originalFile: null },
      { path: 'src/new.txt', bytes: 6, created: true },
    ],
    [
      'write',
      { type: 'update', filePath: '/elsewhere/x', content: '' },
      { path: '/elsewhere/x', bytes: 0, created: false },
    ],
    [
      'glob',
      { filenames: ['/repo/a.js', '/repo/src/b.js'], truncated: true },
      { files: ['a.js', 'src/b.js'], truncated: true },
    ],
    [
      'grep',
      { mode: 'files_with_matches', filenames: ['/repo/a.js'] },
      { matches: [{ path: 'a.js' }], files: ['a.js'] },
    ],
    [
      'grep',
      { mode: 'content', filenames: [], content: '/repo/a.js:3:one\nnothing' },
      { matches: [{ path: 'a.js', line: 3, text: 'one' }], files: [] },
    ],
    ['something', { a: 1 }, { said: '{"a":1}' }],
    ['read', null, {}],
  ] as const)('for %s has the shape of hopgate’s own result', (tool, response, result) => {
    expect(toNativeOutcome(tool, response, '/repo')).toEqual({ status: 'ok', result });
  });

  it('is cut if it is too long', () => {
    const content = 'x'.repeat(1 << 20);
    const outcome = toNativeOutcome('read', { file: { filePath: '/repo/a', content } }, '/repo');
    expect(JSON.stringify(outcome).length).toBeLessThan(210_000);
    expect(JSON.stringify(outcome)).toContain('(1048576 characters)');
  });

  it('says why the call failed', () => {
    expect(toNativeFailure('EACCES')).toMatchObject({ status: 'failed', message: 'EACCES' });
    expect(toNativeFailure(undefined)).toMatchObject({ status: 'failed' });
  });
});
