import { compileMasks, isWriteProtected } from '../../gate/scope/masks.ts';
import { findGitIgnoredPaths } from '../shell/changed-code.ts';
import type { DroppedChange } from '../shell/judge-change.ts';
import type { OverlayChange } from '../shell/overlay-changes.ts';
import type { ScannedCallTree, ShellContext } from '../shell/shell-context.ts';

/**
 * The topmost changed paths that git ignores; a folder with a tracked file is not ignored. Masked and protected paths
 * and deletions are left out; folders with masked files are dropped.
 */
export async function findIgnoredPaths(
  context: ShellContext,
  { scan }: ScannedCallTree,
  changes: readonly OverlayChange[],
): Promise<{ readonly paths: readonly string[]; readonly dropped: readonly DroppedChange[] }> {
  const written = new Set(changes.flatMap(({ kind, path }) => (kind === 'delete' ? [] : withFolders(path, kind))));
  const ignored = await findGitIgnoredPaths(context, [...written]);
  const all = new Set([...ignored].map((path) => path.replace(/\/$/, '')));
  const tops = [...all].filter((path) => !parents(path).some((parent) => all.has(parent)));
  const masked = compileMasks(context.call.envelope.config.mask);
  const open = tops.filter((path) => !isWriteProtected(path) && !masked(path));
  const hidden = (top: string) => scan.maskedFiles.some((path) => path === top || path.startsWith(`${top}/`));
  return {
    paths: open.filter((top) => !hidden(top)),
    dropped: open.filter(hidden).map((path) => ({ path, why: 'git ignores it, but it contains masked files' })),
  };
}

const parents = (path: string): string[] =>
  path.split('/').flatMap((_, at, segments) => (at === 0 ? [] : [segments.slice(0, at).join('/')]));

/** The path and the folders above it. A folder ends with a slash, because patterns may apply to folders only. */
const withFolders = (path: string, kind: OverlayChange['kind']): string[] => [
  ...parents(path).map((folder) => `${folder}/`),
  kind === 'folder' ? `${path}/` : path,
];
