import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findRepository } from '../../../src/tools/git/repository.ts';
import { isDeep } from '../../depth.ts';
import { git, repository, temporaryFolder } from './support.ts';

const REFUSED = { stop: { status: 'failed', code: 'not-a-repository' } };

it('a linked work tree is accepted if its repository has an entry that names it', () => {
  const { root, folder } = repository();
  const linked = join(folder, 'linked');
  git(root, 'worktree', 'add', '-q', '-b', 'side', linked);
  const gitDir = join(root, '.git/worktrees/linked');
  expect(findRepository(linked)).toEqual({ root: linked, gitDir, commonDir: join(root, '.git') });
  writeFileSync(join(gitDir, 'gitdir'), '../../../../linked/.git\n');
  expect(findRepository(linked)).toMatchObject({ gitDir });
  writeFileSync(join(gitDir, 'gitdir'), `${root}/.git\n`);
  expect(findRepository(linked)).toMatchObject(REFUSED);
});

it.runIf(isDeep)('a submodule is accepted if the core.worktree of its repository names it', () => {
  const { root, remote } = repository();
  git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', remote, 'sub');
  const sub = join(root, 'sub');
  const gitDir = join(root, '.git/modules/sub');
  expect(findRepository(sub)).toEqual({ root: sub, gitDir, commonDir: gitDir });
  // Git stores the configuration in that file if each work tree has its own.
  git(sub, 'config', '--unset', 'core.worktree');
  expect(findRepository(sub)).toMatchObject(REFUSED);
  writeFileSync(join(gitDir, 'config.worktree'), '[core]\n\tworktree = ../../../sub\n');
  expect(findRepository(sub)).toMatchObject({ gitDir });
  git(sub, 'worktree', 'add', '-q', '-b', 'side', '../linked');
  expect(findRepository(join(root, 'linked'))).toMatchObject({ commonDir: gitDir });
  const other = join(root, 'other');
  mkdirSync(other);
  writeFileSync(join(other, '.git'), 'gitdir: ../.git/modules/sub\n');
  expect(findRepository(other)).toMatchObject(REFUSED);
});

it('a separate git folder is accepted if it lies in the root, or names the root', () => {
  const folder = temporaryFolder();
  const root = join(folder, 'root');
  git(folder, 'init', '-q', '--separate-git-dir', 'store', 'root');
  expect(findRepository(root)).toMatchObject({
    stop: { message: expect.stringContaining(`"git config core.worktree ${root}" in ${join(folder, 'store')}`) },
  });
  git(join(folder, 'store'), 'config', 'core.bare', 'false');
  git(join(folder, 'store'), 'config', 'core.worktree', root);
  expect(findRepository(root)).toMatchObject({ gitDir: join(folder, 'store') });
  git(join(folder, 'store'), 'config', '--unset', 'core.worktree');
  renameSync(join(folder, 'store'), join(root, 'store'));
  writeFileSync(join(root, '.git'), 'gitdir: store\n');
  expect(findRepository(root)).toEqual({ root, gitDir: join(root, 'store'), commonDir: join(root, 'store') });
});

it('git’s objects folder may be a link only to a folder in the repository', () => {
  const { root, folder } = repository();
  const objects = join(root, '.git/objects');
  renameSync(objects, join(root, 'objects'));
  symlinkSync('../objects', objects);
  expect(findRepository(root)).toMatchObject({ root });
  renameSync(join(root, 'objects'), join(folder, 'objects'));
  rmSync(objects);
  symlinkSync('../../objects', objects);
  expect(findRepository(root)).toMatchObject(REFUSED);
});
