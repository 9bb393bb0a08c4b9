import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { fileStateStamp } from '../sandbox/mounts/certificates.ts';
import type { SandboxLayout } from '../sandbox/mounts/layout.ts';
import { type FolderState, folderStateStamp } from '../sandbox/mounts/read-folder.ts';
import { pathSetMatcher, scanTree, type TreeScan } from '../sandbox/mounts/scan-tree.ts';

/** Thrown if a masked file appeared or was replaced during a command: without a cover, it may have been read. */
export class LateMaskedFileError extends Error {
  constructor(path: string, how: 'appeared' | 'was replaced') {
    super(
      `${path} is masked, and ${how} while the command ran; so the output and the changes of the command were discarded. Run it again.`,
    );
    this.name = 'LateMaskedFileError';
  }
}

export interface CoveredFiles {
  readonly root: string;
  readonly masks: readonly string[];
  readonly scan: TreeScan;
}

/**
 * Watches the files that a layout covers by single mounts: if such a file is replaced, its mount disappears with it.
 * Files in the layer of an overlay stay covered. If any folder of the tree has changed, new masked files are searched.
 * @returns a check that throws {@link LateMaskedFileError} if a masked file was not covered
 */
export function watchCoveredFiles({ root, masks, scan }: CoveredFiles, { mounts }: SandboxLayout): () => void {
  const before = mounts.flatMap((mount) =>
    mount.kind === 'empty-file' || (mount.kind === 'text-file' && mount.isOpen !== true)
      ? [{ path: mount.target, identity: identityOf(mount.target) }]
      : [],
  );
  return () => {
    const changed = before.find(({ path, identity }) => identityOf(path) !== identity);
    if (changed) throw new LateMaskedFileError(changed.path, 'was replaced');
    const rewritten = scan.certificates.find(({ path, stamp }) => fileStateStamp(join(root, path)) !== stamp);
    if (rewritten) throw new LateMaskedFileError(rewritten.path, 'was replaced');
    const isSame = ({ path, stamp }: FolderState) => stamp !== null && stamp === folderStateStamp(join(root, path));
    if (scan.folders.every(isSame)) return;
    const isCovered = pathSetMatcher(new Set([...scan.maskedFiles, ...scan.maskedFolders]));
    const now = scanTree(root, masks);
    const added = [...now.maskedFiles, ...now.maskedFolders].find((path) => !isCovered(path));
    if (added !== undefined) throw new LateMaskedFileError(added, 'appeared');
  };
}

/** Identifies a file regardless of its content, because a file stays covered when it is written. */
function identityOf(path: string): string {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs}`;
  } catch (error) {
    // The file was deleted, or is in an unreadable folder.
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}
