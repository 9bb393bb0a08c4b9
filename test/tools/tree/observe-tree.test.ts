import { readdirSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ObservedTree } from '../../../src/gate/scope/compare-trees.ts';
import type { ProjectConfig } from '../../../src/spec/types.ts';
import { sandboxOfProcess } from '../../../src/tools/sandbox/detect-sandbox.ts';
import { observeTree } from '../../../src/tools/tree/observe-tree.ts';
import { isDeep, sample } from '../../depth.ts';
import { config, git, noSandbox, put, repository, temporaryFolder } from '../git/support.ts';

const sandbox = await sandboxOfProcess();

async function treeOf(root: string, options: { own?: string[]; config?: Partial<ProjectConfig>; bare?: boolean } = {}) {
  const changed = options.own ?? [];
  const place = { root, config: config(options.config), unsafeNoSandbox: options.bare === true, changed };
  const own = options.own && ((path: string) => options.own!.includes(path));
  const box = options.bare ? noSandbox : sandbox;
  const seen = await observeTree(box, place, new AbortController().signal, own);
  if ('problem' in seen) throw new Error(seen.problem);
  return seen;
}

/** The tree that git makes from all files. */
function treeByGit(root: string, ...except: string[]): string {
  git(root, 'add', '-A', '--', '.', ...except.map((path) => `:!${path}`));
  const tree = git(root, 'write-tree');
  git(root, 'reset', '-q');
  return tree;
}

const listing = (root: string): string =>
  (readdirSync(join(root, '.git'), { recursive: true }) as string[])
    .map((name) => `${name} ${statSync(join(root, '.git', name)).mtimeMs}`)
    .join('\n');

const PLACES = [
  ['in the sandbox', false],
  ['without one', true],
] as const;

describe.each(sample(PLACES, 2))('the tree of a repository %s', (_, bare) => {
  it('equals the tree that git would commit, and observing it leaves no trace', async () => {
    const { root } = repository();
    put(root, '.gitignore', 'dist/\n');
    put(root, 'dist/out.txt', 'made\n');
    put(root, 'src/a.txt', 'two\n');
    put(root, 'tool.sh', '#!/bin/sh\n', 0o755);
    put(root, 'src/new\nline "ü".txt', 'odd\n');
    symlinkSync('src/a.txt', join(root, 'link'));
    unlinkSync(join(root, 'README.md'));
    put(root, 'staged.txt', 'staged\n');
    git(root, 'add', 'staged.txt');
    const before = listing(root);
    const seen = await treeOf(root, { bare });
    expect(listing(root)).toBe(before);
    expect(git(root, 'diff', '--cached', '--name-only')).toBe('staged.txt');
    const paths = ['.gitignore', 'README.md', 'link', 'src/a.txt', 'src/new\nline "ü".txt', 'staged.txt', 'tool.sh'];
    expect(Object.keys(seen.changed!)).toEqual(paths);
    expect(seen.changed).toMatchObject({
      'README.md': null,
      'tool.sh': expect.stringMatching(/^100755 /),
      link: expect.stringMatching(/^120000 /),
      'src/a.txt': git(root, 'hash-object', 'src/a.txt'),
    });
    expect(seen.id).toBe(treeByGit(root));
    expect(seen.head).toBe(git(root, 'rev-parse', 'HEAD'));
  });
});

describe('the tree of a repository', () => {
  it.runIf(isDeep)('is a problem if the repository borrows the commit of HEAD from elsewhere', async () => {
    const { remote } = repository();
    const root = join(temporaryFolder(), 'borrower');
    git(remote, 'clone', '-q', '--shared', remote, root);
    const place = { root, config: config(), unsafeNoSandbox: false };
    const seen = await observeTree(sandbox, place, new AbortController().signal);
    expect(seen).toEqual({ problem: expect.stringMatching(/not in \.git\/objects.*git repack -ad/) });
    git(root, 'repack', '-adq');
    unlinkSync(join(root, '.git/objects/info/alternates'));
    expect(await treeOf(root)).toMatchObject({ head: git(root, 'rev-parse', 'HEAD') });
  });

  it.runIf(isDeep)('is known in a shared repository', async () => {
    const { root } = repository();
    git(root, 'config', 'core.sharedRepository', 'group');
    put(root, 'src/new/a.txt', 'two\n');
    expect((await treeOf(root, { own: ['src/new/a.txt'] })).ships?.files).toEqual(['src/new/a.txt']);
  });

  it('names the session’s files as the content to commit, and the others as left out', async () => {
    const { root } = repository();
    const base = git(root, 'rev-parse', 'HEAD');
    put(root, 'README.md', 'unpushed\n');
    git(root, 'commit', '-qam', 'unpushed');
    put(root, 'src/a.txt', 'two\n');
    put(root, 'src/b.txt', 'b\n');
    put(root, 'other.txt', 'theirs\n');
    const { ships } = await treeOf(root, { own: ['src/a.txt', 'src/b.txt', 'src/gone.txt'] });
    expect(ships).toMatchObject({ files: ['src/a.txt', 'src/b.txt'], left: ['other.txt'], base, more: 0 });
    expect(ships!.commits).toEqual([{ sha: git(root, 'rev-parse', 'HEAD'), subject: 'unpushed' }]);
    expect(ships!.id).toBe(treeByGit(root, 'other.txt'));
  });

  it.runIf(isDeep)('changes with a file’s content even if its size and time are unchanged', async () => {
    const { root } = repository();
    const settings = { 'core.trustctime': 'false', 'core.checkStat': 'minimal', 'core.ignoreCase': 'true' };
    for (const [key, value] of Object.entries(settings)) git(root, 'config', key, value);
    const file = join(root, 'src/a.txt');
    const long = new Date(Date.now() - 60_000);
    utimesSync(file, long, long);
    git(root, 'update-index', '--refresh');
    const before = await treeOf(root);
    writeFileSync(file, 'eno\n');
    utimesSync(file, long, long);
    put(root, 'src/A.txt', 'another file\n');
    const after = await treeOf(root);
    expect(before.changed).toEqual({});
    expect(Object.keys(after.changed!)).toEqual(['src/A.txt', 'src/a.txt']);
  });

  it.runIf(isDeep)('names no commit before the first one', async () => {
    const root = temporaryFolder();
    git(root, 'init', '-q', '-b', 'main');
    put(root, 'a.txt', 'a\n');
    const seen = await treeOf(root, { own: ['a.txt'] });
    git(root, 'add', '-A');
    expect(seen).toMatchObject({ id: git(root, 'write-tree'), head: null });
    expect(seen.ships).toMatchObject({ id: seen.id, files: ['a.txt'], commits: [], base: null });
  });

  it('is computed without running configured filters, and a file that needs one does not ship', async () => {
    const { root, folder } = repository();
    const mark = join(folder, 'mark');
    git(root, 'config', 'filter.evil.clean', `touch ${mark}; cat`);
    git(root, 'config', 'filter.evil.required', 'true');
    put(root, '.gitattributes', '*.bin filter=evil\n');
    put(root, 'src/big.bin', 'raw\n');
    const seen = await treeOf(root, { own: ['src/big.bin', '.gitattributes'], bare: true });
    expect(Object.keys(seen.changed!)).toEqual(['.gitattributes', 'src/big.bin']);
    expect(seen.ships).toMatchObject({ files: ['.gitattributes'], left: ['src/big.bin'] });
    expect(readdirSync(folder)).not.toContain('mark');
  });

  it.runIf(isDeep)('contains masked files as they were committed', async () => {
    const { root } = repository();
    const masks = { config: { mask: ['.env', 'secret.txt'] } };
    put(root, 'secret.txt', 'one\n');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'secret');
    const before = await treeOf(root, masks);
    put(root, 'secret.txt', 'two\n');
    put(root, '.env', 'new\n');
    expect(await treeOf(root, masks)).toEqual(before);
    expect(before).toMatchObject({ id: git(root, 'rev-parse', 'HEAD^{tree}'), changed: {} });
  });

  it.runIf(isDeep)('contains submodules and nested repositories as commits', async () => {
    const { root, folder } = repository();
    const other = join(folder, 'other');
    git(folder, 'init', '-q', '-b', 'main', other);
    put(other, 'x', 'x\n');
    git(other, 'add', '.');
    git(other, 'commit', '-qm', 'x');
    git(root, 'submodule', '--quiet', 'add', other, 'sub');
    git(root, 'commit', '-qm', 'sub');
    const before = await treeOf(root);
    put(root, 'sub/x', 'dirty\n');
    expect((await treeOf(root)).id).toBe(before.id);
    git(join(root, 'sub'), 'commit', '-qam', 'y');
    expect(Object.keys((await treeOf(root)).changed!)).toEqual(['sub']);
    git(root, 'init', '-q', 'nested');
    put(root, 'nested/y', 'y\n');
    expect(Object.keys((await treeOf(root)).changed!)).toEqual(['sub']);
  });

  it.runIf(isDeep)(
    'lists the session’s files in an inner repository as left out, because they do not ship from here',
    async () => {
      const { root } = repository();
      put(root, 'vendor/lib/src/x.c', 'one\n');
      git(join(root, 'vendor/lib'), 'init', '-q');
      put(root, 'src/a.txt', 'new\n');
      const { ships } = await treeOf(root, { own: ['src/a.txt', 'vendor/lib/src/x.c', 'src/gone.txt'] });
      expect(ships).toMatchObject({ files: ['src/a.txt'], left: ['vendor/lib/src/x.c'], moreLeft: 0 });
    },
  );

  it.runIf(isDeep)('in a linked work tree contains only the changes made there', async () => {
    const { root, folder } = repository();
    const linked = join(folder, 'linked');
    git(root, 'worktree', 'add', '-q', linked);
    put(linked, 'src/a.txt', 'linked\n');
    expect(Object.keys((await treeOf(linked)).changed!)).toEqual(['src/a.txt']);
    expect((await treeOf(root)).changed).toEqual({});
  });

  it.runIf(isDeep)('during the operator’s merge is committed with the merged changes', async () => {
    const { root } = repository();
    git(root, 'checkout', '-qb', 'side');
    put(root, 'README.md', 'side\n');
    git(root, 'commit', '-qam', 'side');
    git(root, 'checkout', '-q', 'main');
    git(root, 'merge', '-q', '--no-ff', '--no-commit', 'side');
    put(root, 'src/a.txt', 'two\n');
    const { ships } = await treeOf(root, { own: ['src/a.txt'] });
    git(root, 'add', 'src/a.txt');
    expect(ships!.id).toBe(git(root, 'write-tree'));
  });

  it('is a problem instead of a tree if it cannot be computed', async () => {
    const { root } = repository();
    writeFileSync(join(root, '.git/index'), 'no index');
    const place = { root, config: config(), unsafeNoSandbox: false };
    const seen: ObservedTree = await observeTree(sandbox, place, new AbortController().signal);
    expect(seen).toEqual({ problem: expect.stringContaining('index') });
    expect(await observeTree(noSandbox, place, new AbortController().signal)).toEqual({
      problem: 'bubblewrap is not installed',
    });
  });
});

describe('the tree of a folder without a repository', () => {
  it('changes exactly with each file’s content, name and execute permission', async () => {
    const root = temporaryFolder();
    put(root, 'a/b.txt', 'b\n');
    put(root, 'node_modules/x.js', 'x\n');
    put(root, '.env', 'secret\n');
    const seen = new Set([(await treeOf(root)).id]);
    put(root, '.env', 'another\n');
    put(root, 'node_modules/x.js', 'y\n');
    expect(seen).toContain((await treeOf(root)).id);
    for (const change of [
      () => put(root, 'a/b.txt', 'c\n'),
      () => put(root, 'a/c.txt', ''),
      () => put(root, 'a/c.txt', '', 0o755),
      () => unlinkSync(join(root, 'a/b.txt')),
      () => symlinkSync('c.txt', join(root, 'a/b.txt')),
    ]) {
      change();
      const { id, kind, ships } = await treeOf(root, { own: [] });
      expect(seen).not.toContain(id);
      expect([kind, ships]).toEqual(['files', null]);
      seen.add(id);
    }
  });
});
