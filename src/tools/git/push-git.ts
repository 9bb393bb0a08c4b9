import { randomUUID } from 'node:crypto';
import { splitWords } from '../../base/text.ts';
import { isCommitName, isSameCommitMessage, refuseBranchPush } from '../../gate/commands/git-command.ts';
import type { ParsedGit } from '../../gate/commands/parse-git.ts';
import { branchToShip, mayShipBranch } from '../../gate/scope/branch-patterns.ts';
import { printFirstPaths, type ShippedContent, type TreeToShip } from '../../gate/scope/compare-trees.ts';
import type { ObservedEffect, ToolReport } from '../../ports/tool-backend.ts';
import { SandboxError } from '../sandbox/sandbox.ts';
import { failedToolStop, isStop, outOfScopeStop, refusalStop, type ToolStop } from '../workspace/tool-stop.ts';
import { appendCommitTrailer } from './commit-trailer.ts';
import { findGitLogin } from './credentials/find-login.ts';
import type { GitLogin } from './credentials/login.ts';
import { findPushTarget } from './credentials/push-target.ts';
import { reasonInStderr, remedyOfRemoteFailure } from './credentials/remote-failure.ts';
import { gitConfigValuesOf, keysOfConnection } from './git-config-keys.ts';
import { APPROVE_AGAIN_REMEDY, effectsOfMovedRef, makeGitReport } from './git-report.ts';
import type { GitSession } from './git-session.ts';
import { currentBranch } from './repository.ts';

/** Pushes a configured branch, by default the checked-out one, to its namesake at the remote, only fast-forward. */
export async function runGitPush(session: GitSession, parsed: ParsedGit): Promise<ToolReport | ToolStop> {
  const { call } = session;
  const configured = call.envelope.config.git;
  if (configured === null) throw new Error('[tools/git] the gate allowed a push without a configured remote');
  const { remote } = configured;
  const [, named] = [...parsed.operands, ...parsed.paths];
  const current = currentBranch(session.repository);
  const requested = named === 'HEAD' ? current : (named ?? branchToShip(current, configured));
  const branch =
    requested !== null && mayShipBranch(requested, configured) && isCommitName(requested) ? requested : null;
  if (branch === null) return refusalStop(refuseBranchPush(named ?? current ?? 'a detached HEAD', configured));

  const target = findPushTarget(session.repository, configured, session.config);
  if (isStop(target)) return target;
  const keys = target.kind === 'network' && !session.sandboxed ? keysOfConnection(session.config) : [];
  if (keys.length > 0)
    return outOfScopeStop(
      'args',
      `without a sandbox, the repository's configuration would affect the connection to the remote: ${keys.join(', ')}`,
      'Ask the operator to remove these keys from .git/config.',
    );
  const ref = `refs/heads/${branch}`;
  const tip = await describeTip(session, ref);
  if (isStop(tip)) return tip;
  const { sha } = tip;
  if (sha === '') return failedToolStop('no-such-branch', `There is no branch "${branch}" yet; commit to it first.`);

  const approved = call.envelope.shipping?.tree ?? null;
  const { message = null } = call.envelope.shipping ?? {};
  const differs = approved && explainMismatch(approved, { branch, current }, tip, target.url, message);
  if (differs) return failedToolStop('not-what-was-approved', differs);

  const login = target.kind === 'network' ? await findGitLogin(session.repository, call, configured, target) : null;
  if (login !== null && isStop(login)) return login;
  const access = { kind: 'push', target, login } as const;
  const readHeads = async () => {
    const listed = await session.ask(['ls-remote', '--heads', '--upload-pack=git-upload-pack', '--', target.url], {
      access,
    });
    if (isStop(listed)) return listed;
    const lines = listed.stdout?.matchAll(/^(\w+)\trefs\/heads\/(.+)$/gm) ?? [];
    const heads = new Map([...lines].map(([, at, name]) => [name!, at!]));
    return { heads, sha: heads.get(branch) ?? null, reached: listed.stdout !== null, stderr: listed.stderr };
  };
  const connects: ObservedEffect[] = target.kind === 'network' ? [{ path: target.host, op: 'connect' }] : [];
  const proxy = login?.env['https_proxy'];
  const via = proxy ? new URL(proxy).host : null;
  const explain = (stderr: string) =>
    target.kind === 'network' ? remedyOfRemoteFailure(redact(stderr, login), target, login?.source ?? null, via) : null;
  // If hopgate is root, commands run as the repository's owner, who may have no access to the operator's files.
  const before = await readHeads().catch((error: unknown): ToolStop => {
    if (!(error instanceof SandboxError) || !login?.mounts.length) throw error;
    const { message } = error;
    return failedToolStop(
      'no-credential',
      `The file that git.credential or git.ca names cannot be shown to git (${message}); ask the operator to run hopgate as the owner of the repository.`,
    );
  });
  if (isStop(before)) return before;
  if (!before.reached) {
    const why = explain(before.stderr) ?? {
      code: 'remote-unreachable',
      message: `The remote "${remote}" (${target.url}) does not answer: ${redact(reasonInStderr(before.stderr), login)}; ask the operator to check it.`,
    };
    return { outcome: failedToolStop(why.code, why.message).stop, effects: connects };
  }
  const unlisted = approved?.ships && (await unlistedCommits(session, approved.ships, sha, remote, before.heads));
  if (unlisted) return isStop(unlisted) ? unlisted : failedToolStop('not-what-was-approved', unlisted.why);
  const options = splitWords(`
    --porcelain --no-verify --no-force --no-follow-tags --no-signed --no-recurse-submodules
    --receive-pack=git-receive-pack
  `);
  // A remote under a new random name, for which the repository's configuration has no settings.
  const name = `hopgate-${randomUUID()}`;
  const settings = [
    `remote.${name}.url=${target.url}`,
    ...trackingSpecs(session, remote).map((spec) => `remote.${name}.fetch=${spec}`),
  ];
  // Pushes the compared commit by its id, because the branch may have moved since.
  const ran = await session.run(['push', ...options, '--', name, `${sha}:${ref}`], { access, settings });
  const result = { ...ran, stdout: redact(ran.stdout, login), stderr: redact(ran.stderr, login) };
  const after = await readHeads();
  // The push may have succeeded, but it was not observed.
  if (isStop(after)) return { outcome: after.stop, effects: 'unobserved' };
  if (!after.reached) {
    const { stop } = failedToolStop(
      'remote-unreachable',
      `The remote "${remote}" stopped answering; check its branch before you push again.`,
    );
    return { outcome: stop, effects: 'unobserved' };
  }
  const moved = effectsOfMovedRef(ref, before.sha, after.sha);
  const pushed = after.sha === sha && before.sha !== sha;
  const follows = parsed.options.some(({ option }) => option.long === 'set-upstream') && after.sha === sha;
  const upstream = follows && (await setUpstream(session, remote, branch));
  const rejected = rejectionReason(result.stdout);
  // Some remotes can be read without a credential and request one only for a push.
  const refusal = pushed || result.exit === 0 || rejected !== null ? null : explain(ran.stderr);
  if (refusal !== null)
    return { outcome: failedToolStop(refusal.code, refusal.message).stop, effects: [...connects, ...moved] };
  const more = {
    pushed,
    upToDate: before.sha === sha,
    sha,
    tree: tip.tree,
    remote,
    branch,
    network: target.kind === 'network',
    ...(follows ? { upstream } : {}),
    ...(rejected === null ? {} : { rejected }),
  };
  return makeGitReport('push', result, more, [...connects, ...moved]);
}

interface BranchTip {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committer: string;
  readonly message: string;
}

/** The commit of a branch; an empty `sha` if there is no such branch. */
async function describeTip(session: GitSession, ref: string): Promise<BranchTip | ToolStop> {
  const format = '%H%n%T%n%P%n%an <%ae>%n%cn <%ce>%n%B';
  const shown = await session.ask(['show', '-s', '--no-show-signature', `--format=${format}`, `${ref}^{commit}`, '--']);
  if (isStop(shown)) return shown;
  const [sha = '', tree = '', parents = '', author = '', committer = '', ...message] = (shown.stdout ?? '').split('\n');
  return { sha, tree, parents: parents.split(' '), author, committer, message: message.join('\n') };
}

/** Explains how the branch or the address of the remote differs from the approved one; null if none does. */
function explainMismatch(
  { head, ships }: TreeToShip,
  { branch, current }: { readonly branch: string; readonly current: string | null },
  tip: BranchTip,
  to: string,
  message: string | null,
): string | null {
  if (ships === null) return `There was no repository when this was approved. ${APPROVE_AGAIN_REMEDY}`;
  if (ships.to !== to)
    return `The remote is at ${to}, not at ${ships.to ?? 'the approved address'}. ${APPROVE_AGAIN_REMEDY}`;
  if (tip.sha === head) {
    if (ships.files.length === 0) return null;
    if (branch !== current)
      return `The push sends ${branch}, but the approved commit goes to ${current ?? 'a detached HEAD'}, which is checked out. Ask the operator to check out ${branch}, or to list the other branch as git.branch in hopgate.yaml; then hop away and back for a new approval.`;
    return `${printFirstPaths(ships.files)} was approved but is not committed. Commit it first: {sub: "commit"}.`;
  }
  const isApproved =
    tip.parents.join(' ') === [head ?? '', ...(ships.merges ?? [])].join(' ') &&
    tip.tree === ships.id &&
    tip.author === (ships.author ?? tip.author) &&
    tip.committer === (ships.committer ?? ships.author ?? tip.committer) &&
    (message === null || isSameCommitMessage(appendCommitTrailer(message, ships.trailer ?? null), tip.message));
  return isApproved
    ? null
    : `The branch is at ${tip.sha}, which is not the commit that was approved. ${APPROVE_AGAIN_REMEDY}`;
}

/** Prints the number of the commits to be sent that are not in `$listed`. */
const COUNT_UNLISTED = `set -e
w=$(mktemp)
trap 'rm -f "$w"' EXIT
"$@" rev-list --ignore-missing --stdin >"$w"
grep -cvxF -e "$listed" "$w" || test $? -eq 1`;

/**
 * Explains that a push of the commit `sha` would send commits that the approval did not list, because the remote lacks
 * them; null if it would not. `heads` are the commits of the remote's branches. For a commit that is not in this
 * repository, the remote-tracking ref counts instead.
 */
async function unlistedCommits(
  session: GitSession,
  { commits, more }: ShippedContent,
  sha: string,
  remote: string,
  heads: ReadonlyMap<string, string>,
): Promise<{ readonly why: string } | ToolStop | null> {
  const stdin = [...heads.values()].join('\n');
  const kinds = await session.ask(['cat-file', '--batch-check=%(objecttype)'], { stdin });
  if (isStop(kinds)) return kinds;
  const isHere = kinds.printed.split('\n').map((kind) => kind === 'commit');
  const sent = [...heads].map(([name, at], nth) => `^${isHere[nth] ? at : `refs/remotes/${remote}/${name}`}\n`);
  const env = { listed: [sha, ...commits.map((commit) => commit.sha)].join('\n') };
  const counted = await session.ask([], { script: COUNT_UNLISTED, env, stdin: `${sha}\n${sent.join('')}` });
  if (isStop(counted)) return counted;
  if (counted.stdout !== null && Number(counted.stdout) <= more) return null;
  return {
    why: `The remote lacks commits, so more commits than were shown when this was approved would be sent. Ask the operator to run git fetch --prune ${remote}. ${APPROVE_AGAIN_REMEDY}`,
  };
}

/** Refspecs for the remote-tracking refs that the push updates, and for no others. */
function trackingSpecs({ config }: GitSession, remote: string): string[] {
  const specs = gitConfigValuesOf(config, `remote.${remote}.fetch`);
  return specs.filter((spec) => /^\+?refs\/heads\/[^:\s]+:refs\/remotes\/[^:\s]+$/.test(spec));
}

/** The reason for which the remote rejected a push: the summary of a `!` line of `git push --porcelain`. */
function rejectionReason(stdout: string): string | null {
  const line = stdout.split('\n').find((entry) => entry.startsWith('!\t'));
  return line === undefined ? null : (line.split('\t')[2] ?? line);
}

/**
 * Records the remote's branch as the upstream of a branch, with values of hopgate.yaml only. Git's own `push -u` would
 * need the repository's configuration, which a push does not see.
 * @returns true if both settings were written
 */
async function setUpstream(session: GitSession, remote: string, branch: string): Promise<boolean> {
  const access = { kind: 'configure' } as const;
  for (const [key, value] of Object.entries({ remote, merge: `refs/heads/${branch}` })) {
    const ran = await session.run(['config', '--local', '--replace-all', `branch.${branch}.${key}`, value], { access });
    if (ran.exit !== 0) return false;
  }
  return true;
}

const HIDDEN = '[hidden]';

/** Removes a password from a remote's output, in all encodings that programs use. */
function redact(text: string, login: GitLogin | null): string {
  if (login?.password == null) return text;
  const { username, password } = login.password;
  const forms = [
    password,
    encodeURIComponent(password),
    Buffer.from(`${username}:${password}`).toString('base64'),
    Buffer.from(password)
      .toString('base64')
      .replace(/(?<!=)=+$/, ''),
  ];
  return [...new Set(forms)]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
}
