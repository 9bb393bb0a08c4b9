import { join } from 'node:path';
import { readRegularFile } from '../../base/read-file.ts';
import { valueOr } from '../../base/value-or.ts';
import { compileMasks } from '../../gate/scope/masks.ts';
import { findRepository } from '../git/repository.ts';
import { makeSandboxedGit } from '../git-objects/list-objects.ts';
import type { OverlayWrites } from '../sandbox/sandbox.ts';
import { isStop } from '../workspace/tool-stop.ts';
import { isCoverWrittenBack, isInGitFolder } from './git/report-git-changes.ts';
import { DELETED_REASON_PREFIX, type DroppedChange } from './judge-change.ts';
import { listOverlayChanges, type OverlayChange } from './overlay-changes.ts';
import type { ShellContext } from './shell-context.ts';

/**
 * The existing files that a command changed or deleted on its overlay. Files that git ignores do not count, because
 * they are build outputs, nor do masked files, which the command cannot see. Root-relative paths; empty without a
 * repository, because then build outputs are not known.
 */
export async function findChangedCode(context: ShellContext, view: OverlayWrites): Promise<string[]> {
  const { root } = context.call.envelope;
  if (isStop(findRepository(root))) return [];
  const changed = realChanges(context, view).filter(
    (change) => change.kind === 'delete' || (change.kind === 'file' && change.lower !== null),
  );
  return withoutIgnored(context, changed);
}

/** The tool's cache folder, such as `__pycache__`, that contains a path; null for other paths. It need not be kept. */
export const toolCacheFolderOf = (path: string): string | null =>
  /^(?:.*?\/)??(?:__pycache__|\.[\w-]*cache|\.(?:vite|turbo|swc|gradle)|[^/]+\.(?:pyc|tsbuildinfo))(?=\/|$)/.exec(
    path,
  )?.[0] ?? null;

/**
 * All files, links and folders that a command made, changed or deleted on its overlay, without caches, ignored files
 * and the contents of `.git`. As in git, the executable bit counts as a change. A new folder is listed once.
 * Root-relative paths.
 */
export async function listDiscardedFiles(
  context: ShellContext,
  view: OverlayWrites,
  masked: ReadonlySet<string>,
): Promise<string[]> {
  const changed = realChanges(context, view, changesExecutable).filter(
    (change) =>
      ['file', 'folder', 'link', 'delete', 'permissions'].includes(change.kind) &&
      toolCacheFolderOf(change.path) === null &&
      !isInGitFolder(change.path) &&
      !isCoverWrittenBack(change, masked),
  );
  return withoutIgnored(context, changed);
}

type FileChange = Extract<OverlayChange, { readonly kind: 'file' }>;
const changesExecutable = ({ lower, upper }: FileChange): boolean => (((lower?.mode ?? 0) ^ upper.mode) & 0o100) !== 0;

/**
 * The changes of an overlay without masked files and without files that were written with the same content.
 * @param alsoCounts true for a file that counts as changed although its content is the same
 */
function realChanges(
  { call }: ShellContext,
  view: OverlayWrites,
  alsoCounts: (change: FileChange) => boolean = () => false,
): OverlayChange[] {
  const { root, config } = call.envelope;
  const masked = compileMasks(config.mask);
  const isRewritten = (change: OverlayChange): boolean =>
    change.kind === 'file' &&
    change.lower?.size === change.upper.size &&
    !alsoCounts(change) &&
    hasSameContent(join(root, change.path), join(view.upper, change.path));
  return listOverlayChanges(root, view, () => false).filter((change) => !masked(change.path) && !isRewritten(change));
}

async function withoutIgnored(context: ShellContext, changes: readonly OverlayChange[]): Promise<string[]> {
  const names = new Map(changes.map((change) => [change.path, gitName(change)]));
  const ignored = await findGitIgnoredPaths(context, [...names.values()]);
  return [...names].flatMap(([path, name]) => (ignored.has(name) ? [] : path));
}

/**
 * A path for git. The path of a new folder ends with a slash; without the slash, git would look for the folder in the
 * tree.
 */
const gitName = ({ kind, path }: OverlayChange): string => (kind === 'folder' ? `${path}/` : path);

/**
 * Replaces dropped changes that git ignores by their topmost ignored folder, such as a build folder. That folder counts
 * as an output if the command wrote a file in it.
 * @param changes all changes of the command
 */
export async function groupIgnoredChanges(
  context: ShellContext,
  changes: readonly OverlayChange[],
  dropped: readonly DroppedChange[],
): Promise<readonly DroppedChange[]> {
  const names = new Map(changes.map((change) => [change.path, gitName(change)]));
  const withParents = (path: string): string[] => [
    ...[...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)),
    names.get(path) ?? path,
  ];
  const candidates = dropped.flatMap(({ path }) => (toolCacheFolderOf(path) === null ? withParents(path) : []));
  const ignored = await findGitIgnoredPaths(context, [...new Set(candidates)]);
  // Only ignored paths are grouped; a tracked file in an ignored folder is not ignored.
  const tops = Map.groupBy(dropped, ({ path }) =>
    ignored.has(names.get(path) ?? path) ? withParents(path).find((name) => ignored.has(name)) : undefined,
  );
  return [...tops].flatMap(([name, all]): readonly DroppedChange[] => {
    if (name === undefined) return all;
    const written = all.find(({ why }) => !why.startsWith(DELETED_REASON_PREFIX));
    const path = all.length === 1 && !written ? all[0]!.path : name.replace(/\/$/, '');
    return [written ? { ...written, path, isOutput: true } : { ...all[0]!, path }];
  });
}

/** The paths that git ignores; none without a repository. A folder's path must end with a slash. */
export async function findGitIgnoredPaths(
  { call, sandbox }: Pick<ShellContext, 'call' | 'sandbox'>,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const { root, config } = call.envelope;
  const repository = findRepository(root);
  if (paths.length === 0 || isStop(repository)) return new Set();
  const git = makeSandboxedGit(sandbox, root, config.toolchains, repository);
  const { exit, stdout, truncated } = await git('"$@" check-ignore -z --stdin', {
    stdin: paths.map((path) => `${path}\0`).join(''),
  });
  // Exit status 1 means that none is ignored.
  return new Set(exit === 0 && !truncated ? stdout.split('\0').filter((path) => path !== '') : []);
}

/** Written files larger than this count as changed without a comparison. */
const COMPARED_BYTES = 256 << 20;

/** True if two files have the same content. False if one is a link or cannot be read. */
const hasSameContent = (before: string, after: string): boolean =>
  valueOr(() => readRegularFile(before, COMPARED_BYTES).equals(readRegularFile(after, COMPARED_BYTES)), false);
