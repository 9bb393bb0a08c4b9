import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolders, writeNamedFile } from '../../src/base/files.ts';

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
