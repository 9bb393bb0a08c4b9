import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { lstatIfAny } from '../../../base/files.ts';
import { isPathWithin } from '../../../base/paths.ts';
import type { SandboxMount } from '../mount.ts';
import { addMountsToLayout, type BaseLayoutRequest, makeBaseLayout, type SandboxLayout } from './layout.ts';
import { makeMaskOverlay, makeOuterGitWritable, maskMounts, mountsOfOuterGit } from './mask-mounts.ts';
import { scanTree, type TreeScan } from './scan-tree.ts';
import { makeGitWritable, repositoriesInRoot, submoduleGitFolder } from './writable-git.ts';

export interface TreeLayoutRequest extends BaseLayoutRequest {
  /** Patterns of files that no command may see. */
  readonly masks: readonly string[];
  /** True if overlays can be mounted on this machine. */
  readonly overlay?: boolean;
  /** True if commands may open unix sockets, because an overlay cannot reach the host's sockets on this machine. */
  readonly unixSockets?: boolean;
  /** The result of {@link scanTree}; if omitted, the layout scans the tree itself. */
  readonly scan?: TreeScan;
  /** Bytes that a command may write to the overlay of the test layout; default: 2 GiB. */
  readonly overlayBytes?: number;
  /** Mounts that cover the git objects of masked files; they come last. */
  readonly objects?: readonly SandboxMount[];
  /** A system configuration for git; none by default. */
  readonly gitConfig?: string;
}

/**
 * Maximum number of masked files that are covered by mounts. A larger number is covered by the layer of an overlay,
 * even in read-only layouts, because each further mount takes longer than the previous one.
 */
const MAX_MOUNTED = 100;
/** Maximum bytes that a command may write to an overlay. */
const OVERLAY_BYTES = 1 << 30;

/** The tree is readable except for masked files, and not writable. */
export function makeReadOnlyLayout(request: TreeLayoutRequest): SandboxLayout {
  const { root, unixSockets = false } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const isLayered =
    request.overlay === true && (scan.maskedFiles.length > MAX_MOUNTED || (unixSockets && isShownByOverlay(root)));
  const { layer, mounts } = isLayered ? makeMaskOverlay(root, scan) : { layer: {}, mounts: maskMounts(root, scan) };
  const base = treeLayout('read-only', { ...request, scan }, [
    isLayered
      ? { kind: 'overlay', source: root, target: root, bytes: 1 << 20, readOnly: true, ...layer, covers: [] }
      : { kind: 'read-only', source: root, target: root },
    ...mounts,
  ]);
  return isLayered ? base : { ...base, unixSockets: false };
}

/** Magic numbers of ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS; others may fail as the lower layer of an overlay. */
const UNDER_OVERLAYS = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1];

/**
 * True if an overlay shows all files of a folder: the folder's file system is local, and no other file system is
 * mounted inside it.
 */
function isShownByOverlay(folder: string): boolean {
  if (!UNDER_OVERLAYS.includes(statfsSync(folder).type >>> 0)) return false;
  const points = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  // The kernel escapes blanks and similar characters as octal numbers.
  const paths = points.map((line) =>
    (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
  );
  return !paths.some((path) => path !== folder && isPathWithin(folder, path));
}

/** A layout with the mounts that every layout of the repository has. */
const treeLayout = (
  name: string,
  request: TreeLayoutRequest & { readonly scan: TreeScan },
  mounts: readonly SandboxMount[],
  outer: readonly SandboxMount[] = mountsOfOuterGit(request.root, request.scan),
): SandboxLayout => ({
  ...addMountsToLayout(makeBaseLayout(name, request), [
    // The git folder of a bare repository may contain the work tree, so it is mounted before the tree.
    ...outer.filter(({ target }) => isPathWithin(target, request.root)),
    ...mounts,
    ...outer.filter(({ target }) => !isPathWithin(target, request.root)),
    ...(request.objects ?? []),
    ...(request.gitConfig ? [{ kind: 'text-file', target: '/etc/gitconfig', text: request.gitConfig } as const] : []),
  ]),
  unixSockets: request.unixSockets === true,
});

/**
 * The tree is writable on an overlay; only the changes that the caller applies afterwards reach the repository.
 * Protected paths are read-only in the sandbox too, so that a command fails at once. The repository's git folder is
 * writable, and all changes of it are discarded. A git folder outside of the root is read-only if an overlay cannot
 * show it.
 */
export function makeEditLayout(request: TreeLayoutRequest, name: 'edit' | 'explore' = 'edit'): SandboxLayout {
  const { root } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const gits = repositoriesInRoot(root, scan.gitFiles);
  let objects = request.objects ?? [];
  const opened = gits.map((folders, at) => {
    const one = makeGitWritable(root, folders, objects, at);
    objects = one.objects;
    return one;
  });
  const sealedGit = opened.flatMap((one) => one.sealed);
  const [first] = scan.outer;
  const outer =
    first && isShownByOverlay(first.folder)
      ? makeOuterGitWritable(first, { root, scan }, OVERLAY_BYTES, request.objects ?? [])
      : null;
  const { layer, mounts } = makeMaskOverlay(
    root,
    scan,
    opened.flatMap((one) => one.layer),
  );
  const sealed = scan.protectedPaths.filter((path) => gits.length === 0 || path !== '.git');
  return treeLayout(
    name,
    { ...request, scan, objects: outer?.objects ?? objects },
    [
      { kind: 'overlay', source: root, target: root, bytes: OVERLAY_BYTES, ...layer },
      ...sealed.map((path): SandboxMount => ({ kind: 'sealed', target: join(root, path) })),
      ...sealedGit.filter(({ target }) => gits.length === 1 || target !== submoduleGitFolder(root)),
      ...mounts,
    ],
    outer?.mounts,
  );
}

/**
 * The layout of `edit`, in which linters and builds can write their caches and outputs, and git its index; everything
 * is discarded. Where an overlay cannot show the whole tree, the tree is read-only.
 */
export const makeExploreLayout = (request: TreeLayoutRequest): SandboxLayout =>
  request.overlay && isShownByOverlay(request.root) ? makeEditLayout(request, 'explore') : makeReadOnlyLayout(request);

/** The tree on a throwaway overlay, so that builds and tests can write anywhere; `.git` is read-only. */
export function makeTestLayout(request: TreeLayoutRequest): SandboxLayout {
  const { root } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const git = join(root, '.git');
  const { layer, mounts } = makeMaskOverlay(root, scan);
  return treeLayout('test', { ...request, scan }, [
    { kind: 'overlay', source: root, target: root, bytes: request.overlayBytes ?? 2 * OVERLAY_BYTES, ...layer },
    ...(isLink(git) ? [] : [{ kind: 'sealed', target: git } as const]),
    ...mounts,
  ]);
}

/** Links are skipped, because bubblewrap would mount their target. */
const isLink = (path: string) => lstatIfAny(path)?.isSymbolicLink() === true;
