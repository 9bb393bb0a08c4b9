import { existsSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { maskMatcher } from '../../gate/masks.ts';
import { hiddenFolder } from '../sandbox/own-folder.ts';
import { isWithin, type Mount } from '../sandbox/layout.ts';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { fingerprint } from './fingerprint.ts';
import { type GitFolder, gitFolders } from './git-folder.ts';
import { gitRunner, listObjects } from './list-objects.ts';
import { buildView, type ObjectView } from './object-view.ts';
import { stored } from './stored.ts';

export interface MaskedObjectsRequest {
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly masks: readonly string[];
  readonly toolchains: readonly string[];
  /** Root-relative folders that look like repositories. */
  readonly repositories: readonly string[];
}

/** What a command sees of git's objects. */
export interface MaskedObjects {
  /** On top of the mounts that show the repositories. */
  readonly mounts: readonly Mount[];
  /** Root-relative (or absolute, where outside) folders whose objects are not shown at all, because it is not known which of them are masked. */
  readonly closed: readonly string[];
}

/** Where git keeps contents of files beside its objects: what it recovered, remembers of conflicts, is about to apply, or let somebody edit. */
const COPIES = {
  'empty-folder': ['lost-found', 'rr-cache', 'rebase-apply', 'lfs/objects', 'annex/objects'],
  'empty-file': ['COMMIT_EDITMSG', 'ADD_EDIT.patch', 'addp-hunk-edit.diff', 'rebase-merge/patch'],
} as const;
/** A command may still read in the view before the one before. */
const VIEWS_KEPT = 3;

interface Known {
  stamp: string;
  view: Promise<ObjectView | 'all' | 'closed'>;
  readonly folders: string[];
}

const known = new WeakMap<Sandbox, Map<string, Known>>();

/**
 * Keeps what git stored of masked files from commands: in the sandbox their blobs are empty, and objects that nothing refers to are not there. Looks
 * through a repository again only when it has changed. A repository that cannot be looked through, or only in more than {@link LIST_SECONDS}, shows
 * no objects.
 */
export async function maskedObjects(sandbox: Sandbox, request: MaskedObjectsRequest): Promise<MaskedObjects> {
  const { root, masks } = request;
  if (masks.length === 0) return { mounts: [], closed: [] };
  const mounts: Mount[] = [];
  const closed: string[] = [];
  for (const folder of gitFolders(root, request.repositories)) {
    const objects = join(folder.commonDir, 'objects');
    const view = await viewOf(sandbox, request, folder);
    if (view === 'closed') {
      mounts.push({ kind: 'empty-folder', target: objects });
      closed.push(isWithin(root, folder.commonDir) ? relative(root, folder.commonDir) : folder.commonDir);
    } else if (view !== 'all') mounts.push(...view.mounts);
    for (const place of new Set([folder.commonDir, folder.gitDir])) mounts.push(...copies(place));
  }
  return { mounts, closed };
}

const copies = (place: string): Mount[] =>
  (['empty-folder', 'empty-file'] as const).flatMap((kind) =>
    COPIES[kind].map((name) => ({ kind, target: join(place, name) })).filter(({ target }) => existsSync(target)),
  );

function viewOf(sandbox: Sandbox, request: MaskedObjectsRequest, folder: GitFolder): Known['view'] {
  const all = known.get(sandbox) ?? new Map<string, Known>();
  known.set(sandbox, all);
  const key = JSON.stringify([folder, request.root, request.masks]);
  const stamp = fingerprint(folder);
  const before = all.get(key);
  if (before?.stamp === stamp) return before.view;
  const folders = before?.folders ?? [];
  const view = makeView(sandbox, request, folder, folders, before?.view ?? null);
  const now: Known = { stamp, folders, view };
  all.set(key, now);
  // What failed is tried anew.
  view.then(
    (found) => found === 'closed' && all.get(key) === now && all.delete(key),
    () => all.get(key) === now && all.delete(key),
  );
  return view;
}

async function makeView(
  sandbox: Sandbox,
  { root, masks, toolchains }: MaskedObjectsRequest,
  folder: GitFolder,
  folders: string[],
  last: Known['view'] | null,
): Promise<ObjectView | 'all' | 'closed'> {
  const before = await last?.catch(() => null);
  try {
    const git = gitRunner(sandbox, root, toolchains, folder);
    const objects = join(folder.commonDir, 'objects');
    const list = await listObjects(git, folder, maskMatcher(masks));
    if (list === null) return 'closed';
    const files = stored(objects);
    if (list.masked.size + list.unreached.size === 0 && !files.hasLeftovers) return 'all';
    folders.push(hiddenFolder());
    for (const old of folders.splice(0, Math.max(0, folders.length - VIEWS_KEPT)))
      rmSync(old, { recursive: true, force: true });
    const earlier = typeof before === 'object' ? before : null;
    return (
      (await buildView({ git, objects, list, stored: files, folder: folders.at(-1)!, before: earlier ?? null })) ??
      'closed'
    );
  } catch (error) {
    if (error instanceof SandboxError || (error as NodeJS.ErrnoException).code !== undefined) return 'closed';
    throw error;
  }
}
