import { mkdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diffOfWorkingTree } from '../../../src/tools/tree/tree-diff.ts';
import { isDeep } from '../../depth.ts';
import { git, put, repository, temporaryFolder } from '../git/support.ts';

const diffOf = (root: string, files: string[] | null, mask?: readonly string[]) =>
  diffOfWorkingTree(root, { view: files === null ? {} : { ships: { files } } }, mask);

describe('the diff that a person approves', () => {
  it('shows each text, whatever the index, the settings and .gitattributes say', async () => {
    const { root } = repository();
    git(root, 'update-index', '--assume-unchanged', 'src/a.txt');
    git(root, 'update-index', '--skip-worktree', 'README.md');
    const settings = { 'core.bigFileThreshold': '1', 'core.ignoreCase': 'true', 'diff.noprefix': 'true' };
    for (const [key, value] of Object.entries({ ...settings, 'diff.orderFile': 'missing' }))
      git(root, 'config', key, value);
    put(root, '.gitattributes', '* -diff\n');
    const files = ['src/a.txt', 'README.md', 'src/A.txt', 'src/"ü".txt', '-', 'src/picture'];
    for (const path of files) put(root, path, path === 'src/picture' ? 'of\0me\n' : `now ${path}\n`);
    const { lines, problem } = await diffOf(root, files, ['.env']);
    expect(problem).toBeNull();
    expect(lines.filter((line) => line.startsWith('+now')).sort()).toEqual(
      files.flatMap((path) => (path === 'src/picture' ? [] : [`+now ${path}`])).sort(),
    );
    expect(lines.slice(-2)).toEqual(['+++ b/src/picture', 'Binary files differ']);
    expect((await diffOf(root, [])).lines).toEqual([]);
  });

  it.runIf(isDeep)('is complete before the first commit, and if a folder replaces a file', async () => {
    const fresh = temporaryFolder();
    git(fresh, 'init', '-q');
    put(fresh, 'a.txt', 'first\n');
    for (const files of [['a.txt'], null])
      expect(await diffOf(fresh, files)).toMatchObject({ lines: expect.arrayContaining(['+first']), problem: null });
    const { root } = repository();
    unlinkSync(join(root, 'src/a.txt'));
    mkdirSync(join(root, 'src/a.txt'));
    put(root, 'src/a.txt/b', 'inner\n');
    const { lines } = await diffOf(root, ['src/a.txt', 'src/a.txt/b']);
    expect(lines.filter((line) => /^[+-]\w/.test(line))).toEqual(['-one', '+inner']);
  });

  it.runIf(isDeep)('shows the other files if one is too large', async () => {
    const { root } = repository();
    put(root, 'README.md', Buffer.alloc(17 << 20).toString());
    put(root, 'src/a.txt', 'two\n');
    const { lines, problem } = await diffOf(root, ['README.md', 'src/a.txt']);
    expect(lines).toContain('+two');
    expect(problem).toContain('maxBuffer');
  });
});
