import { lstatSync } from 'node:fs';
import type { Layout } from '../sandbox/layout.ts';

/** A masked file was put in another's place while a command ran, and with that lost what covered it: the command may have read it. */
export class UncoveredError extends Error {
  constructor(path: string) {
    super(
      `${path} is masked, and was replaced while the command ran; what the command printed and changed is withheld. Run it again.`,
    );
    this.name = 'UncoveredError';
  }
}

/**
 * Looks at the files that a layout covers one by one, by mounts: such a mount goes with the file that it lies on. (A layer of an overlay stays.)
 * @returns throws {@link UncoveredError} if one of them is another by now
 */
export function watchCovered({ mounts }: Layout): () => void {
  const before = mounts.flatMap((mount) =>
    mount.kind === 'empty-file' || mount.kind === 'text-file'
      ? [{ path: mount.target, identity: identityOf(mount.target) }]
      : [],
  );
  return () => {
    const changed = before.find(({ path, identity }) => identityOf(path) !== identity);
    if (changed) throw new UncoveredError(changed.path);
  };
}

/** Not its content: what is written into a file stays covered. */
function identityOf(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return `${stats?.dev} ${stats?.ino} ${stats?.birthtimeNs}`;
}
