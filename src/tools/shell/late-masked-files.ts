import { lstatSync } from 'node:fs';
import type { SandboxLayout } from '../sandbox/mounts/layout.ts';
import { isWithinOneOf, scanTree, type TreeScan } from '../sandbox/mounts/tree.ts';

/** A masked file appeared or was replaced while a command ran. It was not covered, so the command may have read it. */
export class UncoveredError extends Error {
  constructor(path: string, how: 'appeared' | 'was replaced') {
    super(
      `${path} is masked, and ${how} while the command ran; so the output and the changes of the command were discarded. Run it again.`,
    );
    this.name = 'UncoveredError';
  }
}

/** The tree is scanned again only where that takes at most this part of the command's time, or at most FREE_MS. */
const SHARE = 1 / 20;
const FREE_MS = 50;

export interface Covered {
  readonly root: string;
  readonly masks: readonly string[];
  readonly scan: TreeScan;
  /** How long the scan took. */
  readonly scanMs: number;
}

/**
 * Watches the files that a layout covers by single mounts: if such a file is replaced, its mount disappears with it.
 * (The layer of an overlay does not.) After a command that took long enough, or in a small tree, also searches new
 * masked files.
 * @returns a check that throws {@link UncoveredError} if a masked file was not covered
 */
export function watchCovered({ root, masks, scan, scanMs }: Covered, { mounts }: SandboxLayout): () => void {
  const startedAt = performance.now();
  const before = mounts.flatMap((mount) =>
    mount.kind === 'empty-file' || mount.kind === 'text-file'
      ? [{ path: mount.target, identity: identityOf(mount.target) }]
      : [],
  );
  return () => {
    const changed = before.find(({ path, identity }) => identityOf(path) !== identity);
    if (changed) throw new UncoveredError(changed.path, 'was replaced');
    if (scanMs > Math.max(FREE_MS, (performance.now() - startedAt) * SHARE)) return;
    const isCovered = isWithinOneOf(new Set([...scan.maskedFiles, ...scan.maskedFolders]));
    const now = scanTree(root, masks);
    const added = [...now.maskedFiles, ...now.maskedFolders].find((path) => !isCovered(path));
    if (added !== undefined) throw new UncoveredError(added, 'appeared');
  };
}

/** Without the content: a file stays covered when it is written. */
function identityOf(path: string): string {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs}`;
  } catch (error) {
    // The file was deleted, or lies in an unreadable folder.
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}
