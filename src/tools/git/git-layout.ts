import { join } from 'node:path';
import { lstatIfAny, readTextOrEmpty } from '../../base/files.ts';
import type { SandboxMount } from '../sandbox/mount.ts';
import { keepGitFormatSettings } from '../sandbox/mounts/filter-git-config.ts';
import { addMountsToLayout, makeBaseLayout, type SandboxLayout } from '../sandbox/mounts/layout.ts';
import type { GitLogin } from './credentials/login.ts';
import type { PushTarget } from './credentials/push-target.ts';
import type { GitRepository } from './repository.ts';

/**
 * The write access of a git call: none (`read`), the git folder, the git folder and its configuration, or the git
 * folder and a remote.
 */
export type GitCallAccess =
  | { readonly kind: 'read' }
  | { readonly kind: 'commit' }
  | { readonly kind: 'configure' }
  | { readonly kind: 'push'; readonly target: PushTarget; readonly login?: GitLogin | null };

const EMPTY_BYTES = 1 << 20;

/** Files of a git folder that control which programs git runs; read-only even if the folder is writable. */
const SEALED = ['config', 'config.worktree', 'hooks', 'info', 'modules', 'commondir', 'gitdir'];

/**
 * The layout of one git call. Reading and committing see the work tree read-only. Pushing sees no work tree, and only
 * the format settings of the repository's configuration. Only committing and pushing may write the git folder. Only
 * `configure` may write its configuration; such a call takes only the name of a branch from the agent. Only pushing has
 * a network, if the remote needs one.
 * @throws LayoutError as {@link makeBaseLayout}
 */
export function gitLayout(
  repository: GitRepository,
  access: GitCallAccess,
  toolchains: readonly string[],
): SandboxLayout {
  const { root, gitDir, commonDir } = repository;
  const folders = [...new Set([commonDir, gitDir])];
  const base = makeBaseLayout(`git-${access.kind}`, { root, toolchains });
  // A remote's relative address is resolved in the root, so git runs there; a push mounts an empty root.
  const tree: SandboxMount =
    access.kind === 'push' ? { kind: 'scratch', target: root, bytes: EMPTY_BYTES } : readOnly(root);
  const git = folders.flatMap((folder) =>
    access.kind === 'read' ? [readOnly(folder)] : writableGit(folder, access.kind === 'configure'),
  );
  const layout = addMountsToLayout(base, [tree, ...git]);
  if (access.kind !== 'push') return layout;
  const { target, login } = access;
  const plain = addMountsToLayout(layout, folders.flatMap(plainConfig));
  if (target.kind === 'local')
    return addMountsToLayout(plain, [{ kind: 'writable', source: target.path, target: target.path }]);
  return { ...addMountsToLayout(plain, login?.mounts ?? []), network: true, unixSockets: login?.unixSockets ?? false };
}

/** Covers the repository's configuration, so that no address, proxy or program of it affects a push. */
function plainConfig(folder: string): SandboxMount[] {
  const files = ['config', 'config.worktree'].map((name) => join(folder, name));
  return files
    .filter((path) => lstatIfAny(path)?.isFile())
    .map((path) => ({ kind: 'text-file', target: path, text: keepGitFormatSettings(readTextOrEmpty(path)) }));
}

const readOnly = (path: string): SandboxMount => ({ kind: 'read-only', source: path, target: path });

function writableGit(folder: string, configurable: boolean): SandboxMount[] {
  const names = SEALED.filter((name) => !(configurable && name === 'config'));
  const sealed = names.map((name): SandboxMount => {
    const path = join(folder, name);
    return { kind: 'read-only', source: path, target: path, optional: true };
  });
  return [{ kind: 'writable', source: folder, target: folder }, ...sealed];
}
