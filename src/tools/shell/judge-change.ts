import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { lstatIfAny } from '../../base/files.ts';
import { shorten } from '../../base/text.ts';
import { compileMasks, isWriteProtected } from '../../gate/scope/masks.ts';
import { MASKED_PATH_REFUSAL, PROTECTED_PATH_REFUSAL } from '../../gate/scope/path-refusals.ts';
import { mayHoldWritablePath, OUTSIDE_WRITE_PATHS_REASON, writePathReason } from '../../gate/scope/write-paths.ts';
import type { CallEnvelope } from '../../ports/tool-backend.ts';
import { isInstructionFile } from '../instruction-imports.ts';
import { isPathTooLong } from '../sandbox/mounts/read-folder.ts';
import { pathSetMatcher } from '../sandbox/mounts/scan-tree.ts';
import { JOURNAL_PREFIX } from './change-journal.ts';
import type { OverlayChange } from './overlay-changes.ts';

export interface DroppedChange {
  readonly path: string;
  readonly why: string;
  /** True for a written file that git ignores. Nobody expects it to be kept, so no warning names it. */
  readonly isOutput?: true;
}

/** The changes of a command that may reach the repository. */
export interface JudgedChanges {
  readonly folders: readonly Extract<OverlayChange, { kind: 'folder' }>[];
  readonly files: readonly Extract<OverlayChange, { kind: 'file' }>[];
  readonly links: readonly Extract<OverlayChange, { kind: 'link' }>[];
  /** Deleted files and links. */
  readonly deletions: readonly string[];
  /** Folders that these deletions make empty. */
  readonly emptied: readonly string[];
  readonly dropped: readonly DroppedChange[];
}

const UNAPPLICABLE = {
  unnameable: 'its name is not UTF-8',
  unreadable: 'its permissions make it unreadable',
  'too-deep': 'its path is longer than the system allows',
  permissions: 'changed permissions of a folder are not kept',
} as const;
/** The first words of the reason why a deletion was not kept. */
export const DELETED_REASON_PREFIX = 'deleted, but';
const SET_ID = 0o6000;
/** Maximum total bytes of the written files. Sparse files count in full, because a copy may fill their holes. */
const MAX_BYTES = 1 << 30;
/** Tolerance between file times and hopgate's clock, shorter than the start of any command. */
const CLOCK_SLACK_MS = 2;

/**
 * Divides changes into those that may be applied and those that are dropped. Only regular files (one hard link, no
 * set-id bits) and relative links are applied. They and the targets of links must be in the scope, not masked, not
 * protected, and not changed by anyone else since `startedAt` (epoch milliseconds).
 * @param protectedPaths paths that a walk of the tree found to be protected regardless of their names
 * @param contentProblem why a file may not have its new content; null if it may
 */
export function judgeChanges(
  envelope: CallEnvelope,
  changes: readonly OverlayChange[],
  startedAt: number,
  protectedPaths: readonly string[],
  contentProblem: (path: string) => string | null = () => null,
): JudgedChanges {
  const isSealed = pathSetMatcher(new Set(protectedPaths));
  const masked = compileMasks(envelope.config.mask);
  const folders: Extract<OverlayChange, { kind: 'folder' }>[] = [];
  const files: Extract<OverlayChange, { kind: 'file' }>[] = [];
  const links: Extract<OverlayChange, { kind: 'link' }>[] = [];
  const deletions: string[] = [];
  const emptied: string[] = [];
  let bytes = 0;
  const dropped: DroppedChange[] = [];

  const scopeProblem = (path: string): string | null => {
    const why = writePathReason(path, envelope.scope.write);
    if (why === OUTSIDE_WRITE_PATHS_REASON)
      return `it is outside the scope (${shorten(envelope.scope.write.join(', ') || 'nothing', 200)})`;
    if (why !== null) return `it ${why}`;
    if (isWriteProtected(path) || isSealed(path) || path.startsWith(JOURNAL_PREFIX)) return PROTECTED_PATH_REFUSAL.why;
    if (masked(path)) return MASKED_PATH_REFUSAL.why;
    return null;
  };
  const fileProblem = ({ upper, lower }: Extract<OverlayChange, { kind: 'file' }>): string | null => {
    if (upper.mode & SET_ID) return 'it has a setuid or setgid bit';
    if (upper.nlink > 1) return 'it is a hard link; copy the file instead';
    if (lower && !lower.isFile()) return 'it replaces a link or special file';
    if (lower && lower.nlink > 1) return 'the file has other names (hard links), which may lie outside the root';
    if (bytes + upper.size > MAX_BYTES)
      return 'the written files would exceed 1 GiB in total (sparse files count at full size); write less in one call';
    if (lower && lower.ctimeMs > startedAt + CLOCK_SLACK_MS)
      return 'someone else changed it while the command ran; run the command again';
    return null;
  };
  const linkProblem = ({ path, target, lower }: Extract<OverlayChange, { kind: 'link' }>): string | null => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name.startsWith('.') || isInstructionFile(path))
      return 'it is a link with the name of a hidden file or of instructions for agents; give it another name';
    if (lower && !lower.isFile() && !lower.isSymbolicLink()) return 'it is a link that replaces a special file';
    if (lower && lower.ctimeMs > startedAt + CLOCK_SLACK_MS)
      return 'someone else changed it while the command ran; run the command again';
    const to = linkTarget(path, target);
    if (to === null)
      return 'it is a link that is not relative, or leads out of the root; link to a path within the scope';
    const why = scopeProblem(to);
    return why === null ? null : `it is a link to "${to}", and ${why}`;
  };
  /** Judges a deleted path. True if the path and everything in it may be removed. */
  const remove = (path: string): boolean => {
    const why = scopeProblem(path);
    if (why !== null) {
      dropped.push({ path, why: `${DELETED_REASON_PREFIX} ${why}` });
      return false;
    }
    const file = join(envelope.root, path);
    if (isPathTooLong(file)) {
      dropped.push({ path, why: `${DELETED_REASON_PREFIX} ${UNAPPLICABLE['too-deep']}` });
      return false;
    }
    const stats = lstatIfAny(file);
    if (!stats) return true;
    if (!stats.isDirectory()) {
      deletions.push(path);
      return true;
    }
    const all = readdirSync(file).map((name) => remove(`${path}/${name}`));
    if (all.includes(false)) return false;
    emptied.push(path);
    return true;
  };

  for (const [at, change] of changes.entries()) {
    // A new folder outside of the scope is not reported if it contains changes; each of them is judged separately.
    const isParentFolder = change.kind === 'folder' && changes[at + 1]?.path.startsWith(`${change.path}/`) === true;
    if (isParentFolder && writePathReason(change.path, envelope.scope.write) !== null) continue;
    if (change.kind === 'delete') {
      remove(change.path);
      continue;
    }
    const why =
      scopeProblem(change.path) ??
      (change.kind in UNAPPLICABLE ? UNAPPLICABLE[change.kind as keyof typeof UNAPPLICABLE] : null) ??
      (change.kind === 'special'
        ? `it is ${kindOfFile(change.upper)}, and only regular files and links are kept`
        : null) ??
      (change.kind === 'link' ? linkProblem(change) : null) ??
      (change.kind === 'file' ? (fileProblem(change) ?? contentProblem(change.path)) : null);
    if (why !== null) dropped.push({ path: change.path, why });
    else if (change.kind === 'folder') folders.push(change);
    else if (change.kind === 'link') links.push(change);
    else if (change.kind === 'file') {
      bytes += change.upper.size;
      files.push(change);
    }
  }
  return { folders, files, links, deletions, emptied, dropped };
}

/** Returns a test: true if a file in a new folder could be kept. Otherwise only the folder itself is reported. */
export const mayFolderHoldWritePath = (envelope: CallEnvelope) => (folder: string) =>
  !isWriteProtected(folder) && mayHoldWritablePath(folder, envelope.scope.write);

/** The path under the root that a relative link names; null for the root, outside, or `..` after a name. */
function linkTarget(path: string, target: string): string | null {
  if (posix.isAbsolute(target) || /[\u0000-\u001f\u007f\ufffd]/.test(target) || target.length > 1024) return null;
  if (!/^(?:\.{1,2}(?:\/|$))*(?:(?!\.{1,2}(?:\/|$))[^/]+(?:\/|$))*$/.test(target)) return null;
  const to = posix.join(posix.dirname(path), target).replace(/\/$/, '');
  return to === '.' || to === '..' || to.startsWith('../') ? null : to;
}

function kindOfFile(stats: { isFIFO(): boolean; isSocket(): boolean }): string {
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}
