import { lstatSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '../../../base/paths.ts';
import { type BaseRequest, baseLayout, type SandboxLayout, withMounts } from './layout.ts';
import type { Mount } from '../mount.ts';
import { maskMounts, maskOverlay, outerGitMounts, scanTree, type TreeScan } from './tree.ts';

export interface TreeRequest extends BaseRequest {
  /** Patterns of files that no command may see. */
  readonly masks: readonly string[];
  /** Overlays can be mounted here. */
  readonly overlay?: boolean;
  /** In an overlay no socket of the host can be reached here, so commands may have their own. */
  readonly unixSockets?: boolean;
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
export function readOnlyLayout(request: TreeRequest): SandboxLayout {
  const { root, unixSockets = false } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const isLayered =
    request.overlay === true && (scan.maskedFiles.length > MOST_MOUNTED || (unixSockets && isPlain(root)));
  const { layer, mounts } = isLayered ? maskOverlay(root, scan) : { layer: {}, mounts: maskMounts(root, scan) };
  const base = treeLayout('read-only', request, [
    isLayered
      ? { kind: 'overlay', source: root, target: root, bytes: 1 << 20, readOnly: true, ...layer }
      : { kind: 'read-only', source: root, target: root },
    ...mounts,
  ]);
  return isLayered ? base : { ...base, unixSockets: false };
}

/** ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS: others, such as those of networks, may be nothing that an overlay can lie on. */
const UNDER_OVERLAYS = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1];

/** Whether an overlay shows a folder as it is: it lies on a file system of the machine's, and no other one is mounted in it. */
function isPlain(folder: string): boolean {
  if (!UNDER_OVERLAYS.includes(statfsSync(folder).type >>> 0)) return false;
  const points = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  // Blanks and the like are written as octal numbers.
  const paths = points.map((line) =>
    (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
  );
  return !paths.some((path) => path !== folder && isWithin(folder, path));
}

/** A layout of the tree, with what every one of them shows beside it. */
const treeLayout = (name: string, request: TreeRequest, mounts: readonly Mount[]): SandboxLayout => ({
  ...withMounts(baseLayout(name, request), [
    ...mounts,
    ...outerGitMounts(request.root, request.masks),
    ...(request.objects ?? []),
  ]),
  unixSockets: request.unixSockets === true,
});

/**
 * The tree can be written, on an overlay: nothing reaches the repository but what the caller picks up afterwards. What may never be written
 * (`.git` and the like) is read-only already inside, so that a command learns of it at once.
 */
export function editLayout(request: TreeRequest): SandboxLayout {
  const { root } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const { layer, mounts } = maskOverlay(root, scan);
  return treeLayout('edit', request, [
    { kind: 'overlay', source: root, target: root, bytes: OVERLAY_BYTES, ...layer },
    ...scan.protectedPaths.map((path): Mount => ({ kind: 'sealed', target: join(root, path) })),
    ...mounts,
  ]);
}

/** The tree on an overlay that is thrown away, so that builds and tests can write wherever they like; `.git` is read-only. */
export function testLayout(request: TreeRequest): SandboxLayout {
  const { root } = request;
  const scan = request.scan ?? scanTree(root, request.masks);
  const git = join(root, '.git');
  const { layer, mounts } = maskOverlay(root, scan);
  return treeLayout('test', request, [
    { kind: 'overlay', source: root, target: root, bytes: 2 * OVERLAY_BYTES, ...layer },
    ...(isLink(git) ? [] : [{ kind: 'sealed', target: git } as const]),
    ...mounts,
  ]);
}

/** What it leads to would be mounted in its place. */
const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
