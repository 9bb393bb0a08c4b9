import { parseTreeChanges, type TreeChange } from '../tree/git-tree.ts';
import { isStop, type ToolStop } from '../workspace/tool-stop.ts';
import type { GitSession } from './git-session.ts';

/** HEAD of a work tree. */
export interface GitHead {
  /** The commit of HEAD; null before the first commit. */
  readonly sha: string | null;
  /** The branch that moves with HEAD; `HEAD` itself if it is detached. */
  readonly ref: string;
}

/** Sets `$head` to the commit of HEAD, and prints two lines: the branch and the commit of HEAD. */
const PRINT_HEAD = `head=$("$@" rev-parse --verify --quiet 'HEAD^{commit}' || true)
"$@" symbolic-ref --quiet HEAD || echo HEAD
echo "$head"`;

const LIST_STAGED = `${PRINT_HEAD}
"$@" diff-index --cached --raw -z --no-renames \${head:-$("$@" hash-object -t tree --stdin </dev/null)} --`;

const LIST_COMMITTED = `${PRINT_HEAD}
test -z "$head" || test "$head" = "$before" || "$@" diff-tree --no-commit-id --name-only -r -z \${before:---root} $head`;

/** HEAD, and the entries of the index that differ from its commit, regardless of who staged them. */
export async function listStagedFiles(
  session: GitSession,
): Promise<{ readonly head: GitHead; readonly files: readonly TreeChange[] } | ToolStop> {
  const listed = await askWithHead(session, LIST_STAGED, {});
  return isStop(listed) ? listed : { head: listed.head, files: parseTreeChanges(`${listed.rest}\0`) };
}

/**
 * HEAD, and the paths that its commit changed since the commit `before`; for a merge, compared with its first parent.
 * If `before` is null, all paths of the commit.
 */
export async function listCommittedPaths(
  session: GitSession,
  before: string | null,
): Promise<{ readonly head: GitHead; readonly paths: readonly string[] } | ToolStop> {
  const listed = await askWithHead(session, LIST_COMMITTED, { before: before ?? '' });
  return isStop(listed) ? listed : { head: listed.head, paths: listed.rest.split('\0').filter((path) => path !== '') };
}

async function askWithHead(
  session: GitSession,
  script: string,
  env: { readonly [name: string]: string },
): Promise<{ readonly head: GitHead; readonly rest: string } | ToolStop> {
  const answer = await session.ask([], { script, env });
  if (isStop(answer)) return answer;
  const [ref = '', sha = ''] = answer.printed.split('\n', 2);
  const rest = answer.stdout === null ? '' : answer.stdout.slice(ref.length + sha.length + 2);
  return { head: { sha: sha || null, ref }, rest };
}
