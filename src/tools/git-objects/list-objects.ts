import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment, hardenedArgv } from '../git/harden.ts';
import { gitLayout } from '../git/layouts.ts';
import type { Repository } from '../git/repository.ts';
import { type Layout, type Mount, withMounts } from '../sandbox/layout.ts';
import type { CommandResult, Sandbox } from '../sandbox/sandbox.ts';
import type { GitFolder } from './git-folder.ts';

/** What a repository holds, by object name. */
export interface ObjectList {
  /** Reached from a ref, a reflog, an index or a head, at a path that is not masked (or none). */
  readonly open: ReadonlySet<string>;
  /** Blobs reached at masked paths only. */
  readonly masked: ReadonlySet<string>;
  /** Reached from nowhere: at which path they once were nobody knows. */
  readonly unreached: ReadonlySet<string>;
}

/** Of a list. More is a repository of some two million objects. */
const LIST_BYTES = 256 << 20;
export const LIST_SECONDS = 120;
/** Files that name what git was doing last, and are no refs. */
const HEADS = ['FETCH_HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_HEAD', 'AUTO_MERGE'];

const LIST = `"$@" rev-list --objects --all --reflog --indexed-objects --missing=allow-any --ignore-missing --stdin &&
echo &&
"$@" cat-file --batch-all-objects --unordered --batch-check='%(objectname) %(objecttype)'`;

/** Runs git on one repository in the root, in a sandbox that can write nothing but what `mounts` give. */
export function gitRunner(sandbox: Sandbox, root: string, toolchains: readonly string[], folder: GitFolder) {
  const repository: Repository = { root, gitDir: folder.gitDir, commonDir: folder.commonDir };
  const git = hardenedArgv(repository, []);
  return (
    script: string,
    more: { stdin?: string; mounts?: readonly Mount[]; env?: { readonly [name: string]: string } } = {},
  ): Promise<CommandResult> => {
    const layout: Layout = withMounts(gitLayout(repository, { kind: 'read' }, toolchains), more.mounts ?? []);
    return sandbox.run(layout, ['sh', '-c', script, 'sh', ...git], {
      seconds: LIST_SECONDS,
      outputBytes: LIST_BYTES,
      env: { ...gitEnvironment(repository, 'none'), ...more.env },
      signal: new AbortController().signal,
      stdin: more.stdin ?? '',
    });
  };
}

export type GitRunner = ReturnType<typeof gitRunner>;

/** Lists a repository's objects; null if git cannot, or there are too many. */
export async function listObjects(
  git: GitRunner,
  folder: GitFolder,
  masked: (relPath: string) => boolean,
): Promise<ObjectList | null> {
  const listed = await git(LIST, { stdin: headsOf(folder) });
  if (listed.exit !== 0 || listed.truncated) return null;
  const isMasked = (path: string) => folder.prefixes.some((prefix) => masked(prefix + path));
  const open = new Set<string>();
  const atMasked = new Set<string>();
  const [blobs, unreached] = [new Set<string>(), new Set<string>()];
  let isReached = true;
  for (const line of linesOf(listed.stdout)) {
    if (line === '') {
      isReached = false;
      continue;
    }
    const space = line.indexOf(' ');
    const name = space === -1 ? line : line.slice(0, space);
    const rest = space === -1 ? '' : line.slice(space + 1);
    if (isReached) (rest !== '' && isMasked(rest) ? atMasked : open).add(name);
    else if (atMasked.has(name)) rest === 'blob' ? blobs.add(name) : open.add(name);
    else if (!open.has(name)) unreached.add(name);
  }
  if (blobs.size > 0)
    for (const name of await stagedOpenly(git, isMasked)) {
      if (blobs.delete(name)) open.add(name);
    }
  return { open, masked: blobs, unreached };
}

/** What an index has at paths that are not masked: a command can read the same in the work tree. A path that git does not name counts for nothing. */
async function stagedOpenly(git: GitRunner, isMasked: (path: string) => boolean): Promise<string[]> {
  const { exit, stdout, truncated } = await git('"$@" ls-files --stage -z');
  if (exit !== 0 || truncated) return [];
  return stdout.split('\0').flatMap((entry) => {
    const [, name, path] = /^\d+ ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
    return name !== undefined && path !== undefined && !isMasked(path) ? [name] : [];
  });
}

function headsOf({ gitDir }: GitFolder): string {
  const texts = HEADS.map((name) => {
    try {
      return readFileSync(join(gitDir, name), 'latin1');
    } catch {
      return '';
    }
  });
  const names = texts.flatMap((text) => [...text.matchAll(/^(?:[0-9a-f]{64}|[0-9a-f]{40})\b/gm)].map(([name]) => name));
  return names.map((name) => `${name}\n`).join('');
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    yield text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length : end + 1;
  }
}
