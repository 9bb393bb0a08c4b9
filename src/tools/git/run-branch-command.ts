import { isCommitName, readBranchOperands } from '../../gate/commands/git-command.ts';
import type { ParsedGit } from '../../gate/commands/parse-git.ts';
import type { ObservedEffect, ToolReport } from '../../ports/tool-backend.ts';
import { failedToolStop, isStop, outOfScopeStop, type ToolStop } from '../workspace/tool-stop.ts';
import { effectsOfMovedRef, makeGitReport } from './git-report.ts';
import { findCommits, type GitSession } from './git-session.ts';
import { currentBranch } from './repository.ts';

/** Creates `$branch` at `$head` if `$create` is set, then names it in HEAD if `$switch` is set. No file is changed. */
const MOVE = `set -e
test -z "$create" || "$@" branch --no-track "$branch" "$head"
test -z "$switch" || "$@" symbolic-ref -m "checkout: moving from \${from:-$head} to $branch" HEAD "refs/heads/$branch"`;

/**
 * Runs `git switch [-c] NAME`, `git checkout [-b] NAME` or `git branch NAME`, for the branches of `git.branch` only. A
 * branch begins at HEAD, and a switch goes to the same commit only, so that no file of the work tree changes.
 */
export async function runGitBranchCommand(session: GitSession, parsed: ParsedGit): Promise<ToolReport | ToolStop> {
  const { sub } = parsed;
  const [name = '', start = 'HEAD'] = readBranchOperands(parsed);
  const ref = `refs/heads/${name}`;
  const found = await findCommits(session, ['HEAD', isCommitName(start) ? start : '', ref]);
  if (isStop(found)) return found;
  const [head, begin, existing] = found.shas;
  if (head === null) return failedToolStop('no-commit', 'There is no commit yet; commit first.');
  if (begin !== head)
    return outOfScopeStop('args', `"${start}" is not the commit of HEAD, so files would change.`, SAME_COMMIT);
  const create = sub === 'branch' || parsed.options.length > 0;
  if (create && existing !== null)
    return failedToolStop('branch-exists', `The branch "${name}" exists; switch to it, or choose another name.`);
  if (!create && existing === null)
    return failedToolStop(
      'no-such-branch',
      `There is no branch "${name}"; create it with {sub: "switch", args: ["-c", "${name}"]}.`,
    );
  if (!create && existing !== head)
    return outOfScopeStop('args', `"${name}" is not at the commit of HEAD, so files would change.`, SAME_COMMIT);
  const from = currentBranch(session.repository);
  const env = { branch: name, head, from: from ?? '', create: create ? '1' : '', switch: sub === 'branch' ? '' : '1' };
  const result = await session.run([], { access: { kind: 'commit' }, script: MOVE, env });
  const later = await findCommits(session, [ref]);
  if (isStop(later)) return { outcome: later.stop, effects: 'unobserved' };
  const [after] = later.shas;
  const now = currentBranch(session.repository);
  const moved: ObservedEffect[] = now === from ? [] : [{ path: 'HEAD', op: 'ref', before: head, after: head }];
  const effects = [...effectsOfMovedRef(ref, existing, after), ...moved];
  return makeGitReport(sub, result, { branch: now, created: create && after !== null }, effects);
}

const SAME_COMMIT = 'Create or switch to a branch at HEAD only; ask the operator to switch to another commit.';
