import { isCommitName, readBranchOperands } from '../../gate/commands/git-command.ts';
import type { ParsedGit } from '../../gate/commands/parse-git.ts';
import type { ObservedEffect, ToolReport } from '../../ports/tool-backend.ts';
import { failedToolStop, isStop, outOfScopeStop, type ToolStop } from '../workspace/tool-stop.ts';
import { effectsOfMovedRef, makeGitReport } from './git-report.ts';
import { findCommit, type GitSession } from './git-session.ts';
import { currentBranch } from './repository.ts';

/** Creates `$branch` at `$head` if `$create` is set, then names it in HEAD if `$switch` is set. No file is changed. */
const MOVE = `set -e
test -z "$create" || "$@" branch --no-track "$branch" "$head"
test -z "$switch" || "$@" symbolic-ref -m "checkout: moving from \${from:-$head} to $branch" HEAD "refs/heads/$branch"`;

/**
 * `git switch [-c] NAME`, `git checkout [-b] NAME` and `git branch NAME`, for the branches of `git.branch` only. A
 * branch begins at HEAD, and a switch goes to the same commit only, so that no file of the work tree changes.
 */
export async function runGitBranchCommand(session: GitSession, parsed: ParsedGit): Promise<ToolReport | ToolStop> {
  const { sub } = parsed;
  const [name = '', start = 'HEAD'] = readBranchOperands(parsed);
  const head = await findCommit(session, 'HEAD');
  if (isStop(head)) return head;
  if (head.sha === null) return failedToolStop('no-commit', 'There is no commit yet; commit first.');
  const begin = isCommitName(start) ? await findCommit(session, start) : { sha: null };
  if (isStop(begin)) return begin;
  if (begin.sha !== head.sha)
    return outOfScopeStop('args', `"${start}" is not the commit of HEAD, so files would change.`, SAME_COMMIT);
  const existing = await findCommit(session, `refs/heads/${name}`);
  if (isStop(existing)) return existing;
  const create = sub === 'branch' || parsed.options.length > 0;
  if (create && existing.sha !== null)
    return failedToolStop('branch-exists', `The branch "${name}" exists; switch to it, or choose another name.`);
  if (!create && existing.sha === null)
    return failedToolStop(
      'no-such-branch',
      `There is no branch "${name}"; create it with {sub: "switch", args: ["-c", "${name}"]}.`,
    );
  if (!create && existing.sha !== head.sha)
    return outOfScopeStop('args', `"${name}" is not at the commit of HEAD, so files would change.`, SAME_COMMIT);
  const from = currentBranch(session.repository);
  const env = {
    branch: name,
    head: head.sha,
    from: from ?? '',
    create: create ? '1' : '',
    switch: sub === 'branch' ? '' : '1',
  };
  const result = await session.run([], { access: { kind: 'commit' }, script: MOVE, env });
  const after = await findCommit(session, `refs/heads/${name}`);
  if (isStop(after)) return { outcome: after.stop, effects: 'unobserved' };
  const now = currentBranch(session.repository);
  const moved: ObservedEffect[] = now === from ? [] : [{ path: 'HEAD', op: 'ref', before: head.sha, after: head.sha }];
  const effects = [...effectsOfMovedRef(`refs/heads/${name}`, existing.sha, after.sha), ...moved];
  return makeGitReport(sub, result, { branch: now, created: create && after.sha !== null }, effects);
}

const SAME_COMMIT = 'Create or switch to a branch at HEAD only; ask the operator to switch to another commit.';
