import { join } from 'node:path';
import { readTextOrEmpty } from '../../base/files.ts';
import { excerpt, splitWords } from '../../base/text.ts';
import { gitLayout } from '../git/git-layout.ts';
import { gitEnvironment, hardenedArgv } from '../git/hardened-git.ts';
import type { GitRepository } from '../git/repository.ts';
import type { SandboxMount } from '../sandbox/mount.ts';
import { addMountsToLayout, type SandboxLayout } from '../sandbox/mounts/layout.ts';
import type { CommandResult, Sandbox } from '../sandbox/sandbox.ts';
import { foldersWithGitHead, type GitFolder } from './git-folder.ts';

export interface GitObjectList {
  /** Reachable objects (refs, reflogs, indexes, heads): blobs at an unmasked path; all commits, trees and tags. */
  readonly readable: ReadonlySet<string>;
  /** Blobs that are reachable only at masked paths, or that a ref names directly. */
  readonly masked: ReadonlySet<string>;
  /** Unreachable objects, whose former paths are unknown. */
  readonly unreachable: ReadonlySet<string>;
}

/** The reason why git could not list or copy the objects, in one line. */
export interface GitFailure {
  readonly problem: string;
}

/** Git's last message, or the limit that ended it. */
export function explainGitFailure({ exit, stderr, truncated, timedOut }: CommandResult): GitFailure {
  if (timedOut) return { problem: `git needed more than ${LIST_SECONDS} seconds` };
  if (truncated && exit === 0) return { problem: 'the list of its objects is too long' };
  const message = stderr.trimEnd().split('\n').at(-1) ?? '';
  return { problem: message === '' ? `git ended with exit code ${exit}` : excerpt(message, 200) };
}

/** Maximum size of a list in bytes; about two million objects exceed it. */
const LIST_BYTES = 256 << 20;
const LIST_SECONDS = 120;
/** Files with the object names of git's last operation; they are not refs. */
const HEADS = splitWords('HEAD FETCH_HEAD ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_HEAD AUTO_MERGE');

/**
 * Prints three lists, each followed by an empty line: objects reachable from a commit or the index with their paths;
 * objects reachable from other names; all objects. The entries of the index follow. The first list cuts a path at a
 * newline; if the index has such paths, the script also searches all commits for them, which doubles the time.
 */
const LIST = `set -e
cd /tmp
cat >heads
"$@" rev-list --ignore-missing --no-walk=unsorted --all --reflog --stdin <heads >tips
"$@" ls-files --stage -z >staged
: >odd
test "$(tr -cd '\\n' <staged | wc -c)" -eq 0 || {
  { "$@" rev-list --ignore-missing --missing=allow-any --stdin <tips || touch failed; } |
    { "$@" diff-tree --stdin -r --root -c --raw -z --no-commit-id --no-renames || touch failed; } |
    LC_ALL=C grep -za -B1 '[[:cntrl:]]' >odd || test $? -eq 1 || touch failed
} &
"$@" rev-list --ignore-missing --missing=allow-any --objects --indexed-objects --stdin <tips
echo
sed 's/^/^/' tips >>heads
"$@" rev-list --ignore-missing --missing=allow-any --objects --all --reflog --stdin <heads
echo
"$@" cat-file --batch-all-objects --unordered --batch-check='%(objectname) %(objecttype)'
echo
wait
test ! -e failed
cat staged
printf '\\0\\0'
cat odd`;

/** Returns a function that runs a script on a repository: `"$@"` is git. Only `mounts` can be written. */
export function makeSandboxedGit(
  sandbox: Pick<Sandbox, 'run'>,
  root: string,
  toolchains: readonly string[],
  folder: Pick<GitFolder, 'gitDir' | 'commonDir'>,
  signal: AbortSignal = new AbortController().signal,
) {
  const repository: GitRepository = { root, gitDir: folder.gitDir, commonDir: folder.commonDir };
  const git = hardenedArgv(repository, []);
  return (
    script: string,
    more: { stdin?: string; mounts?: readonly SandboxMount[]; env?: { readonly [name: string]: string } },
  ): Promise<CommandResult> => {
    const layout: SandboxLayout = addMountsToLayout(
      gitLayout(repository, { kind: 'read' }, toolchains),
      more.mounts ?? [],
    );
    return sandbox.run(layout, ['sh', '-c', script, 'sh', ...git], {
      seconds: LIST_SECONDS,
      outputBytes: LIST_BYTES,
      env: { ...gitEnvironment(repository, 'none'), ...more.env },
      signal,
      stdin: more.stdin ?? '',
    });
  };
}

export type SandboxedGit = ReturnType<typeof makeSandboxedGit>;

export async function listGitObjects(
  git: SandboxedGit,
  folder: GitFolder,
  masked: (relPath: string) => boolean,
): Promise<GitObjectList | GitFailure> {
  const listed = await git(LIST, { stdin: headsOf(folder) });
  if (listed.exit !== 0 || listed.truncated) return explainGitFailure(listed);
  const isMasked = (path: string) => folder.prefixes.some((prefix) => masked(prefix + path));
  const [readable, atMasked, nowhere] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [blobs, unreachable] = [new Set<string>(), new Set<string>()];
  let [list, at] = [0, 0];
  for (const line of linesOf(listed.stdout)) {
    at += line.length + 1;
    if (line === '') {
      list += 1;
      if (list < 3) continue;
      break;
    }
    const space = line.indexOf(' ');
    const name = space === -1 ? line : line.slice(0, space);
    const rest = space === -1 ? '' : line.slice(space + 1);
    if (list === 0) (rest !== '' && isMasked(rest) ? atMasked : readable).add(name);
    else if (list === 1) !readable.has(name) && !atMasked.has(name) && nowhere.add(name);
    else if (atMasked.has(name) || nowhere.has(name)) rest === 'blob' ? blobs.add(name) : readable.add(name);
    else if (!readable.has(name)) unreachable.add(name);
  }
  const [staged, odd] = splitAt(listed.stdout.slice(at), '\0\0');
  for (const { name, path } of [...stagedIn(staged), ...changesIn(odd)])
    if (path.includes('\n') && isMasked(path) && readable.delete(name)) blobs.add(name);
  // If the index also has this content at a path that is not masked, a command can read it in the work tree anyway.
  for (const { name, path } of stagedIn(staged)) if (!isMasked(path) && blobs.delete(name)) readable.add(name);
  return { readable, masked: blobs, unreachable };
}

interface PlacedObject {
  readonly name: string;
  readonly path: string;
}

/** Parses the output of `ls-files --stage -z`. */
function* stagedIn(text: string): Generator<PlacedObject> {
  for (const entry of text.split('\0')) {
    const [, name, path] = /^\d+ ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
    if (name !== undefined && path !== undefined) yield { name, path };
  }
}

/** Parses `diff-tree --raw -z`: for each change a header that ends with the new object names, then the path. */
function* changesIn(text: string): Generator<PlacedObject> {
  const words = text.split('\0');
  for (const [at, path] of words.entries()) {
    const name = /:[0-7 ]+(?: [0-9a-f]+)* ([0-9a-f]+) [A-Z]+$/.exec(words[at - 1] ?? '')?.[1];
    if (name !== undefined) yield { name, path };
  }
}

/** Object names in HEAD and the files of git's last operation; git does not list the names of other work trees. */
function headsOf(folder: GitFolder): string {
  const texts = foldersWithGitHead(folder).flatMap((place) => HEADS.map((name) => readTextOrEmpty(join(place, name))));
  const names = texts.flatMap((text) => [...text.matchAll(/^(?:[0-9a-f]{64}|[0-9a-f]{40})\b/gm)].map(([name]) => name));
  return names.map((name) => `${name}\n`).join('');
}

function splitAt(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    yield text.slice(start, end === -1 ? text.length : end);
    start = end === -1 ? text.length : end + 1;
  }
}
