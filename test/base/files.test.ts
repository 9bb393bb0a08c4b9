import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolderPrivate, makeFolders, writeNamedFile } from '../../src/base/files.ts';

it('makeFolders makes all folders of a path, and throws if the system refuses', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'hopgate-files-')), 'a/b/c');
  makeFolders(folder);
  makeFolders(folder);
  expect(statSync(folder).isDirectory()).toBe(true);
  expect(() => makeFolders('/proc/none/x')).toThrow('ENOENT');
});

it('writeNamedFile replaces a file as a whole, keeps its mode, and follows a link', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-files-'));
  const [file, link] = [join(folder, 'a'), join(folder, 'link')];
  writeFileSync(file, 'old');
  chmodSync(file, 0o640);
  const before = statSync(file).ino;
  writeNamedFile(file, 'new');
  expect(statSync(file).ino).not.toBe(before);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  symlinkSync('a', link);
  writeNamedFile(link, 'through');
  expect(readFileSync(file, 'utf8')).toBe('through');
  expect(() => writeNamedFile(join(folder, 'none/x'), '')).toThrow('ENOENT');
  expect(readdirSync(folder)).toEqual(['a', 'link']);
});

it('a folder is made private only if it is a folder of this user, and no link', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-files-'));
  chmodSync(folder, 0o755);
  expect(makeFolderPrivate(folder)).toBeNull();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const link = join(folder, 'link');
  symlinkSync(folder, link);
  expect(makeFolderPrivate(link)).toBe('not a folder');
  if (process.getuid?.() !== 0) return;
  chownSync(folder, 65_534, 65_534);
  expect(makeFolderPrivate(folder)).toBe('owned by user 65534, not by you');
});
