import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Mount } from '../mount.ts';
import type { LayerFile } from './mask-layer.ts';

/** The place of a repository's real objects in a sandbox where git writes its new ones to memory. */
const OBJECTS = '/var/git-objects';
/** Maximum size of the objects that a command may write there. */
const OBJECTS_BYTES = 256 << 20;

/**
 * Files of a git folder that name programs, other repositories or patterns. They are read-only even where git may write
 * its folder to memory, so that a command that changes them fails at once.
 */
const SEALED = ['hooks', 'info', 'modules', 'worktrees', 'commondir', 'gitdir'];

export interface OpenGit {
  readonly sealed: readonly Mount[];
  /** Files of the overlay's layer that replace mounts. */
  readonly layer: readonly LayerFile[];
  readonly objects: readonly Mount[];
}

/** True if the root has its own `.git` folder, which the overlay of the root contains. */
export const hasOwnGit = (root: string): boolean =>
  lstatSync(join(root, '.git'), { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes the root's own `.git` writable in an overlay. All that a command writes there is discarded with the overlay.
 * Masked objects stay hidden: git writes new objects to a folder in memory, and reads the others from the view at
 * another place.
 *
 * @param objects mounts that cover the objects of masked files
 */
export function openGit(root: string, objects: readonly Mount[]): OpenGit {
  const git = join(root, '.git');
  const place = join(git, 'objects');
  const sealed = SEALED.map((name) => join(git, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true)
    .map((target): Mount => ({ kind: 'sealed', target }));
  const covers = objects.flatMap((mount) => {
    const isFile = mount.kind === 'empty-file' && mount.target.startsWith(`${git}/`);
    return isFile && !mount.target.startsWith(`${place}/`) ? [mount.target] : [];
  });
  const others = objects.filter(({ target }) => !covers.includes(target));
  const isView = others.some(({ kind, target }) => kind === 'read-only' && target === place);
  return {
    sealed,
    layer: covers.map((path) => ({ path: path.slice(root.length + 1), text: '', mode: 0o644 })),
    objects: isView
      ? [
          { kind: 'scratch', target: place, bytes: OBJECTS_BYTES },
          { kind: 'text-file', target: join(place, 'info/alternates'), text: `${OBJECTS}\n` },
          ...others.map((mount) =>
            mount.kind === 'read-only' ? { ...mount, target: moved(mount.target, place) } : mount,
          ),
        ]
      : others,
  };
}

const moved = (target: string, place: string): string =>
  target === place || target.startsWith(`${place}/`) ? OBJECTS + target.slice(place.length) : target;
