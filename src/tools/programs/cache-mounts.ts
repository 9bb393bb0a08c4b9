import { chmodSync, existsSync, readdirSync, realpathSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../../base/files.ts';
import { xdgFolder } from '../../base/user-folders.ts';
import type { ToolCall } from '../../ports/tool-backend.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import { sha256Hex } from '../content-effect.ts';
import type { SandboxMount } from '../sandbox/mount.ts';
import { expandTilde, resolveConfigFolder, SANDBOX_HOME } from '../sandbox/mounts/layout.ts';

/** A session's folders that were unused for this long are removed by the repository's next session. */
const IDLE_MS = 24 * 60 * 60 * 1000;

/**
 * The mounts of `cache:` for a test run. A folder that test runs write belongs to the session: it starts empty and no
 * other session sees it, because files of one run influence the next. A read-only folder is the operator's.
 * @throws LayoutError if a folder to read is too wide
 */
export function testCacheMounts({ envelope: { root, config }, sessionId }: ToolCall): readonly SandboxMount[] {
  const folders = config.cache ?? [];
  const base = folders.some(({ read }) => !read) ? sessionFolder(root, sessionId) : null;
  return folders.flatMap((each): readonly SandboxMount[] => {
    if (each.read) return readCacheMounts(root, { cache: [each] });
    const source = makeCacheFolder(join(base!, digest(each.folder)), root);
    return [{ kind: 'writable', source, target: targetOf(each.folder, root) }];
  });
}

/**
 * The writable folders of `cache:` for commands. Test runs have other folders, which an agent's command cannot
 * influence.
 */
export function commandCacheMounts({ envelope: { root, config }, sessionId }: ToolCall): readonly SandboxMount[] {
  const folders = (config.cache ?? []).filter(({ folder, read }) => !read && folder.startsWith('~/'));
  if (folders.length === 0) return [];
  const base = makeCacheFolder(join(sessionFolder(root, sessionId), 'commands'), root);
  return folders.map(({ folder }) => ({
    kind: 'writable',
    source: makeCacheFolder(join(base, digest(folder)), root),
    target: targetOf(folder, root),
  }));
}

/** The operator's folders of `cache:`, such as downloaded modules; every command reads them. */
export function readCacheMounts(root: string, { cache = [] }: Pick<ProjectConfig, 'cache'>): readonly SandboxMount[] {
  return cache.flatMap(({ folder, read }): readonly SandboxMount[] => {
    const source = expandTilde(folder.startsWith('~/') ? folder : join(root, folder));
    if (!read || !existsSync(source)) return [];
    return [
      { kind: 'read-only', source: realpathSync(resolveConfigFolder('cache', source)), target: targetOf(folder, root) },
    ];
  });
}

const targetOf = (folder: string, root: string): string =>
  folder.startsWith('~/') ? join(SANDBOX_HOME, folder.slice(2)) : join(root, folder);

const digest = (text: string): string => sha256Hex(text).slice(0, 16);

/** The cache folder of a session. The unused folders of the repository's other sessions are removed. */
function sessionFolder(root: string, sessionId: string): string {
  const all = makeCacheFolder(join(xdgFolder(process.env, 'XDG_CACHE_HOME', '.cache'), 'hopgate', digest(root)), root);
  const own = digest(sessionId);
  for (const name of readdirSync(all))
    if (name !== own && Date.now() - statSync(join(all, name)).mtimeMs > IDLE_MS)
      rmSync(join(all, name), { recursive: true, force: true });
  const folder = makeCacheFolder(join(all, own), root);
  utimesSync(folder, new Date(), new Date());
  return folder;
}

/** Makes a folder for the user that runs the command. If hopgate runs as root, that user is the repository's owner. */
function makeCacheFolder(folder: string, root: string): string {
  if (existsSync(folder)) return folder;
  makeFolders(folder, 0o700);
  const { uid } = statSync(root);
  if (process.getuid?.() === 0 && uid !== 0) chmodSync(folder, 0o777);
  return folder;
}
