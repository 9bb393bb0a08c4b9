import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolders } from '../../src/base/files.ts';

it('makeFolders makes all folders of a path, and throws if the system refuses', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'hopgate-files-')), 'a/b/c');
  makeFolders(folder);
  makeFolders(folder);
  expect(statSync(folder).isDirectory()).toBe(true);
  expect(() => makeFolders('/proc/none/x')).toThrow('ENOENT');
});
