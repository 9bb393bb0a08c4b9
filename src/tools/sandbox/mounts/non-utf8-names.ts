import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LayoutError } from '../layout-error.ts';

/** What stands where bytes are no UTF-8. */
const REPLACEMENT = '\uFFFD';
const SLASH = Buffer.from('/');

/** Whether a name that was read as text does not lead back to what bears it, because its bytes are no UTF-8: then nothing can be mounted there. */
export const isUnnameable = (parent: string, name: string): boolean =>
  name.includes(REPLACEMENT) && lstatSync(join(parent, name), { throwIfNoEntry: false }) === undefined;

/**
 * Makes sure that nothing masked bears a name that is no UTF-8, or lies beneath one: it could not be covered.
 *
 * @param folder root-relative
 * @throws LayoutError if something does
 */
export function refuseMaskedUnnameable(
  root: string,
  folder: string,
  name: string,
  masked: (relPath: string) => boolean,
): void {
  const walk = (bytes: Buffer, path: string): void => {
    for (const entry of list(bytes)) {
      const text = entry.name.toString('utf8');
      // Of the folder we begin in only the one that bears the name.
      if (bytes === start && text !== name) continue;
      const inner = path === '' ? text : `${path}/${text}`;
      if (masked(inner))
        throw new LayoutError(
          `"${inner}" is masked but cannot be covered, because a name on its path is not UTF-8; rename it`,
        );
      if (entry.isDirectory()) walk(Buffer.concat([bytes, SLASH, entry.name]), inner);
    }
  };
  const start = Buffer.from(join(root, folder));
  walk(start, folder);
}

function list(path: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (['EACCES', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
