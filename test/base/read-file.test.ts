import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readRegularFile, UnreadableFile } from '../../src/base/read-file.ts';

const outside = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-read-')));
const root = join(outside, 'root');
mkdirSync(join(root, 'folder'), { recursive: true });
writeFileSync(join(outside, 'secret'), 'secret');
writeFileSync(join(root, 'plain'), 'text\n');
writeFileSync(join(root, 'empty'), '');
writeFileSync(join(root, 'huge'), '');
truncateSync(join(root, 'huge'), 2 ** 40);
symlinkSync('plain', join(root, 'link'));
symlinkSync('../secret', join(root, 'out'));
symlinkSync('/dev/zero', join(root, 'zero'));
execFileSync('mkfifo', [join(root, 'pipe')]);
afterAll(() => rmSync(outside, { recursive: true }));

it.each([
  ['plain', 'text\n'],
  ['empty', ''],
  ['link', 'text\n'],
])('readRegularFile reads the file "%s"', (name, text) =>
  expect(readRegularFile(join(root, name), 5, root).toString()).toBe(text),
);

it.each([
  ['folder', 'is a folder, not a file'],
  ['pipe', 'is a named pipe, not a file'],
  ['zero', 'is a device, not a file'],
  ['huge', 'is larger than 5 bytes'],
  ['out', `is a link that leads out of ${root}`],
])('readRegularFile names the path when it refuses "%s"', (name, problem) => {
  const path = join(root, name);
  expect(() => readRegularFile(path, 5, root)).toThrow(UnreadableFile);
  expect(() => readRegularFile(path, 5, root)).toThrow(`${path} ${problem}`);
});

it('readRegularFile throws ENOENT for a missing file', () =>
  expect(() => readRegularFile(join(root, 'none'), 5)).toThrow(expect.objectContaining({ code: 'ENOENT' })));
