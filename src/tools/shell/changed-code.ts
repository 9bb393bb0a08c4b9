import { join } from 'node:path';
import { readRegularFile } from '../../base/read-file.ts';
import { maskMatcher } from '../../gate/scope/masks.ts';
import { findRepository } from '../git/repository.ts';
import { sandboxedGit } from '../git-objects/list-objects.ts';
import type { OverlayView } from '../sandbox/sandbox.ts';
import { isStop } from '../workspace/outcome.ts';
import type { ShellContext } from './context.ts';
import { isCover, isOfGit } from './git/report-git.ts';
import { type Change, overlayChanges } from './overlay-changes.ts';

/**
 * The existing files that a command changed or deleted on its overlay. Files that git ignores do not count, because
 * they are build outputs, nor do masked files, which the command cannot see. Root-relative paths; empty without a
 * repository, because then build outputs are not known.
 */
export async function changedCode(context: ShellContext, view: OverlayView): Promise<string[]> {
  const { root } = context.call.grant;
  if (isStop(findRepository(root))) return [];
  const changed = realChanges(context, view).filter(
    (change) => change.kind === 'delete' || (change.kind === 'file' && change.lower !== null),
  );
  return withoutIgnored(context, changed);
}

/** The cache of a tool in which a path lies, which nobody expects to be kept; null for other paths. */
export const cacheOf = (path: string): string | null =>
  /^(?:.*?\/)??(?:__pycache__|\.[\w-]*cache|\.(?:vite|turbo|swc|gradle)|[^/]+\.(?:pyc|tsbuildinfo))(?=\/|$)/.exec(
    path,
  )?.[0] ?? null;

/**
 * All files, links and folders that a command made, changed or deleted on its overlay, without caches, what git
 * ignores and git's own. A new folder is listed once. Root-relative paths.
 */
export async function discardedFiles(
  context: ShellContext,
  view: OverlayView,
  masked: ReadonlySet<string>,
): Promise<string[]> {
  const changed = realChanges(context, view).filter(
    (change) =>
      ['file', 'folder', 'link', 'delete', 'permissions'].includes(change.kind) &&
      cacheOf(change.path) === null &&
      !isOfGit(change.path) &&
      !isCover(change, masked),
  );
  return withoutIgnored(context, changed);
}

/** The changes of an overlay without masked files and without files that were written with the same content. */
function realChanges({ call }: ShellContext, view: OverlayView): Change[] {
  const { root, config } = call.grant;
  const masked = maskMatcher(config.mask);
  const isRewritten = (change: Change): boolean =>
    change.kind === 'file' &&
    change.lower?.size === change.upper.size &&
    isSame(join(root, change.path), join(view.upper, change.path));
  return overlayChanges(root, view, () => false).filter((change) => !masked(change.path) && !isRewritten(change));
}

async function withoutIgnored(context: ShellContext, changes: readonly Change[]): Promise<string[]> {
  const { root, config } = context.call.grant;
  const paths = [...new Set(changes.map(({ path }) => path))];
  const repository = findRepository(root);
  if (paths.length === 0 || isStop(repository)) return paths;
  const git = sandboxedGit(context.sandbox, root, config.toolchains, repository);
  const { exit, stdout } = await git('"$@" check-ignore -z --stdin', {
    stdin: paths.map((path) => `${path}\0`).join(''),
  });
  // Exit status 1 means that none is ignored.
  const ignored = new Set(exit === 0 ? stdout.split('\0') : []);
  return paths.filter((path) => !ignored.has(path));
}

/** Written files larger than this count as changed without a comparison. */
const COMPARED_BYTES = 256 << 20;

function isSame(before: string, after: string): boolean {
  try {
    return readRegularFile(before, COMPARED_BYTES).equals(readRegularFile(after, COMPARED_BYTES));
  } catch {
    // a link, or not readable
    return false;
  }
}
