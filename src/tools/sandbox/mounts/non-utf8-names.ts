import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lstatIfAny } from '../../../base/files.ts';
import { valueOr } from '../../../base/value-or.ts';
import { LayoutError } from '../layout-error.ts';

/** Replaces bytes that are not valid UTF-8 in a decoded name. */
const REPLACEMENT = '\uFFFD';
const SLASH = Buffer.from('/');

/** True if the name is not valid UTF-8, so that the decoded path does not exist and cannot be mounted over. */
export const isNonUtf8Name = (parent: string, name: string): boolean =>
  name.includes(REPLACEMENT) && lstatIfAny(join(parent, name)) === undefined;

/**
 * Refuses a masked path if a name in it is not valid UTF-8: no mount can hide it from a command.
 * @param folder root-relative
 * @throws LayoutError if there is such a path
 */
export function refuseMaskedNonUtf8(
  root: string,
  folder: string,
  name: string,
  masked: (relPath: string) => boolean,
): void {
  const walk = (bytes: Buffer, path: string): void => {
    for (const entry of list(bytes)) {
      const text = entry.name.toString('utf8');
      // In the start folder, only the entry with this name is searched.
      if (bytes === start && text !== name) continue;
      const inner = path === '' ? text : `${path}/${text}`;
      if (masked(inner))
        throw new LayoutError(`"${inner}" is masked but cannot be covered: a name on its path is not UTF-8; rename it`);
      if (entry.isDirectory()) walk(Buffer.concat([bytes, SLASH, entry.name]), inner);
    }
  };
  const start = Buffer.from(join(root, folder));
  walk(start, folder);
}

const list = (path: Buffer): Dirent<Buffer>[] =>
  valueOr(() => readdirSync(path, { withFileTypes: true, encoding: 'buffer' }), [], ['EACCES', 'ENOENT', 'ENOTDIR']);
