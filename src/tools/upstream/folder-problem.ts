import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMasked, isProtected } from '../../gate/scope/masks.ts';
import type { CallEnvelope } from '../../ports/tool-backend.ts';
import type { Anchors } from '../workspace/anchors.ts';
import type { PathAccess } from '../workspace/hold-path.ts';
import { isUnderSegments } from '../workspace/path-argument.ts';
import { walkBeneath } from '../workspace/walk-beneath.ts';

const MAX_FILES = 100_000;

/**
 * Explains why a folder may not be passed to a server, which can read everything in it; null if it may. hopgate cannot
 * remove masked files from the server's answers.
 * @param folder root-relative segments
 */
export async function folderProblem(
  { root, config }: CallEnvelope,
  folder: readonly string[],
  access: PathAccess,
  anchors: Anchors,
): Promise<string | null> {
  const waiting: string[][] = [[...folder]];
  let seen = 0;
  for (let here = waiting.pop(); here !== undefined; here = waiting.pop()) {
    const entries = await readdir(join(root, ...here), { withFileTypes: true }).catch(() => []);
    seen += entries.length;
    if (seen > MAX_FILES) return `more than ${MAX_FILES} files are in it, too many to check`;
    for (const entry of entries) {
      const segments = [...here, entry.name];
      const path = segments.join('/');
      if (isMasked(path, config.mask)) return `it contains "${path}", which is masked`;
      if (access === 'write' && isProtected(path)) return `it contains "${path}", which no agent may write`;
      if (entry.isDirectory()) waiting.push(segments);
      else if (entry.isSymbolicLink()) {
        const target = walkBeneath(root, segments, anchors);
        if ('close' in target) target.close();
        if (target.kind === 'leaves') return `it contains the link "${path}", which leads out of the root`;
        if ('real' in target && isMasked(target.real.join('/'), config.mask))
          return `the link "${path}" in it leads to a masked file`;
        if (access === 'write' && !('real' in target && isUnderSegments(target.real, folder)))
          return `the link "${path}" in it leads elsewhere`;
      }
    }
  }
  return null;
}
