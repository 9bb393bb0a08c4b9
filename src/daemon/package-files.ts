import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { valueOr } from '../base/value-or.ts';

/** The folder that holds hopgate's package.json. */
export function packageFolder(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  throw new Error('hopgate cannot find its package.json; install it again');
}

/** The file that Node runs for hooks, run tickets and the daemon: the built one, or the source in a checkout. */
export function entryFile(): string {
  const fromSource = import.meta.filename.endsWith('.ts');
  return join(
    packageFolder(),
    ...(fromSource ? ['src', 'daemon', 'hook', 'hook-main.ts'] : ['dist', 'hook', 'main.cjs']),
  );
}

/**
 * Identifies what is installed: the text of the entry file, which names the files that it loads by their hashes; null
 * if it was removed. Its time and size say nothing, because packages are often unpacked with the same time.
 */
export const installedBuild = (): string | null => valueOr(() => readFileSync(entryFile(), 'utf8'), null);

/** Encodes all but printable ASCII as `%XX`, for a header. */
export const encodeHeader = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte > 0x20 && byte < 0x7f && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');

export const decodeHeader = (text: string): string => {
  const bytes = text.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
};
