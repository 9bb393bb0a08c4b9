import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repositoryOfFolder } from '../../src/project/repository-root.ts';

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-root-')));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Makes files, and folders where the name ends with a slash. */
function tree(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(join(base, name.endsWith('/') ? name : dirname(name)), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(join(base, name), '');
  }
}

describe('the repository of a folder', () => {
  it.each([
    ['the folder itself where nothing is set up', ['a/.git/', 'a/src/'], 'a/src', 'a/src'],
    ['where hopgate.yaml lies', ['a/.git/', 'a/hopgate.yaml', 'a/src/deep/'], 'a/src/deep', 'a'],
    ['the nearest of several', ['a/.git/', 'a/hopgate.yaml', 'a/pkg/hopgate.yaml', 'a/pkg/src/'], 'a/pkg/src', 'a/pkg'],
    ['none outside of the git working tree', ['hopgate.yaml', 'a/.git/', 'a/src/'], 'a/src', 'a/src'],
    ['a linked working tree’s own', ['hopgate.yaml', 'a/.git', 'a/hopgate.yaml', 'a/src/'], 'a/src', 'a'],
    ['a submodule’s own folder', ['a/.git/', 'a/hopgate.yaml', 'a/sub/.git', 'a/sub/src/'], 'a/sub/src', 'a/sub/src'],
    ['outside of git, the folder itself', ['a/hopgate.yaml', 'a/src/'], 'a/src', 'a/src'],
    ['outside of git, with a hopgate.yaml of its own', ['a/hopgate.yaml'], 'a', 'a'],
  ])('is %s', (_, names, from, to) => {
    tree(...names);
    expect(repositoryOfFolder(join(base, from))).toBe(join(base, to));
  });
});
