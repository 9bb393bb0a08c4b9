import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type BaseRequest, baseLayout, type Layout, type Mount, withMounts } from './layout.ts';
import { maskMounts, maskOverlay, outerGitMounts, scanTree, type TreeScan } from './tree.ts';

export interface TreeRequest extends BaseRequest {
  /** Patterns of files that no command may see. */
  readonly masks: readonly string[];
  /** Overlays can be mounted here. */
  readonly overlay?: boolean;
  /** What {@link scanTree} found in it; default: looked up. */
  readonly scan?: TreeScan;
  /** What covers the git objects of masked files, on top of everything else. */
  readonly objects?: readonly Mount[];
}

/** More masked files than this are covered by an overlay's layer also where nothing is written: each mount takes longer than the one before. */
const MOST_MOUNTED = 100;
/** How much a command may write to an overlay. */
const OVERLAY_BYTES = 1 << 30;

/** The tree can be read but for the masks; nothing of it can be written. */
export function readOnlyLayout(request: TreeRequest): Layout {
  const { root } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const isLayered = request.overlay === true && scan.maskedFiles.length > MOST_MOUNTED;
  const { layer, mounts } = isLayered ? maskOverlay(root, scan, []) : { layer: {}, mounts: maskMounts(root, scan) };
  return withMounts(baseLayout('read-only', request), [
    isLayered
      ? { kind: 'overlay', source: root, target: root, bytes: 1 << 20, readOnly: true, ...layer }
      : { kind: 'read-only', source: root, target: root },
    ...mounts,
    ...outerGitMounts(root, request.masks),
    ...(request.objects ?? []),
  ]);
}

/**
 * The tree can be written, on an overlay: nothing reaches the repository but what the caller picks up afterwards. What may never be written
 * (`.git` and the like) is read-only already inside, so that a command learns of it at once.
 */
export function editLayout(request: TreeRequest): Layout {
  const { root } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const { layer, mounts } = maskOverlay(root, scan, scan.protectedPaths);
  return withMounts(baseLayout('edit', request), [
    { kind: 'overlay', source: root, target: root, bytes: OVERLAY_BYTES, ...layer },
    ...protectedMounts(root, scan),
    ...mounts,
    ...outerGitMounts(root, request.masks),
    ...(request.objects ?? []),
  ]);
}

/** The tree on an overlay that is thrown away, so that builds and tests can write wherever they like; `.git` is read-only. */
export function testLayout(request: TreeRequest): Layout {
  const { root } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const git = join(root, '.git');
  const { layer, mounts } = maskOverlay(root, scan, ['.git']);
  return withMounts(baseLayout('test', request), [
    { kind: 'overlay', source: root, target: root, bytes: 2 * OVERLAY_BYTES, ...layer },
    ...(isLink(git) ? [] : [{ kind: 'read-only', source: git, target: git, optional: true } as const]),
    ...mounts,
    ...outerGitMounts(root, request.masks),
    ...(request.objects ?? []),
  ]);
}

/** What it leads to would be mounted in its place. */
const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

function protectedMounts(root: string, scan: TreeScan): Mount[] {
  return scan.protectedPaths.map((path) => ({
    kind: 'read-only',
    source: join(root, path),
    target: join(root, path),
    optional: true,
  }));
}
