import { lstatSync } from 'node:fs';
import type { SandboxLayout } from '../sandbox/mounts/layout.ts';
import { isWithinOneOf, scanTree, type TreeScan } from '../sandbox/mounts/tree.ts';

/** A masked file came to be, or was put in another's place, while a command ran, and nothing covered it: the command may have read it. */
export class UncoveredError extends Error {
  constructor(path: string, how: 'came to be' | 'was replaced') {
    super(
      `${path} is masked, and ${how} while the command ran; what the command printed and changed is withheld. Run it again.`,
    );
    this.name = 'UncoveredError';
  }
}

/** The tree is looked through again only where that takes no more than this part of what the command took. */
const SHARE = 1 / 20;

export interface Covered {
  readonly root: string;
  readonly masks: readonly string[];
  readonly scan: TreeScan;
  /** How long the scan took. */
  readonly scanMs: number;
}

/**
 * Looks at the files that a layout covers one by one, by mounts: such a mount goes with the file that it lies on. (A layer of an overlay stays.) After
 * a command that took long enough, looks for masked files that are new as well.
 * @returns throws {@link UncoveredError} if there is one
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
    if ((performance.now() - startedAt) * SHARE < scanMs) return;
    const isCovered = isWithinOneOf(new Set([...scan.maskedFiles, ...scan.maskedFolders]));
    const now = scanTree(root, masks);
    const added = [...now.maskedFiles, ...now.maskedFolders].find((path) => !isCovered(path));
    if (added !== undefined) throw new UncoveredError(added, 'came to be');
  };
}

/** Not its content: what is written into a file stays covered. */
function identityOf(path: string): string {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs}`;
  } catch (error) {
    // It is gone, or lies where we may not look.
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}
