import { randomUUID } from 'node:crypto';
import type { ObservedEffect } from '../../ports/effects.ts';
import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { SandboxError } from '../sandbox/sandbox.ts';
import { failed, invalid, isStop, outOfScope, type Stop } from '../workspace/outcome.ts';
import { loginFor } from './credential.ts';
import type { GitSession } from './git-session.ts';
import { configValues, networkKeys } from './judge-config.ts';
import { isRef } from './operands.ts';
import type { ParsedGit } from './parse-arguments.ts';
import { pushTarget } from './push-target.ts';
import { redact } from './redact.ts';
import { remoteFailure } from './remote-failure.ts';
import { gitReport, refEffects } from './report.ts';

const SET_GIT =
  'Ask the operator to set git: { remote: origin, branch: main } in hopgate.yaml, or, where it is set, to accept the file (`hopgate trust`).';

/** `git push`: the configured branch to the same branch of the configured remote, fast-forward only. */
export async function pushGit(session: GitSession, call: ToolCall, parsed: ParsedGit): Promise<ToolReport | Stop> {
  const configured = call.grant.config.git;
  if (configured === null) return outOfScope('args', 'no remote is configured to push to', SET_GIT);
  const { remote, branch } = configured;
  if (!isRef(remote) || !isRef(branch))
    return outOfScope('args', `"${remote}" "${branch}" is not a remote and a branch`, SET_GIT);
  const words = [...parsed.operands, ...parsed.paths];
  const plain = `Push as {sub: "push"}: it sends ${branch} to ${remote}.`;
  if (words.length > 2) return invalid('args', 'git push takes at most a remote and a branch.', plain);
  if ((words[0] ?? remote) !== remote) return outOfScope('args', `"${words[0]}" is not the configured remote.`, plain);
  if ((words[1] ?? branch) !== branch) return outOfScope('args', `"${words[1]}" is not the configured branch.`, plain);

  const target = pushTarget(session.repository, configured, session.config);
  if (isStop(target)) return target;
  const inTheWay = target.kind === 'network' && !session.contained ? networkKeys(session.config) : [];
  if (inTheWay.length > 0)
    return outOfScope(
      'args',
      `without a sandbox, the repository's configuration would have a say in how the remote is reached: ${inTheWay.join(', ')}`,
      'Ask the operator to remove these keys from .git/config.',
    );
  const ref = `refs/heads/${branch}`;
  const local = await session.ask(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  if (isStop(local)) return local;
  const sha = local.stdout?.trim() ?? null;
  if (sha === null) return failed('no-such-branch', `There is no branch "${branch}" here yet; commit to it first.`);

  const login = target.kind === 'network' ? await loginFor(session.repository, call, configured, target) : null;
  if (login !== null && isStop(login)) return login;
  const access = { kind: 'push', target, login } as const;
  const remoteTip = async () => {
    const listed = await session.ask(['ls-remote', '--upload-pack=git-upload-pack', '--', target.url, ref], { access });
    if (isStop(listed)) return listed;
    const line = listed.stdout?.split('\n').find((entry) => entry.endsWith(`\t${ref}`));
    return { sha: line?.split('\t')[0] ?? null, reached: listed.stdout !== null, stderr: listed.stderr };
  };
  const connects: ObservedEffect[] = target.kind === 'network' ? [{ path: target.host, op: 'connect' }] : [];
  const explained = (stderr: string) =>
    target.kind === 'network' ? remoteFailure(stderr, target, login?.shown ?? null) : null;
  // As root, commands run as the repository's owner, who may not be let to the operator's files.
  const before = await remoteTip().catch((error: unknown): Stop => {
    if (!(error instanceof SandboxError) || !login?.mounts.length) throw error;
    const { message } = error;
    return failed(
      'no-credential',
      `What git.credential or git.ca names cannot be shown to git (${message}); ask the operator to run hopgate as the owner of the repository.`,
    );
  });
  if (isStop(before)) return before;
  if (!before.reached) {
    const why = explained(before.stderr) ?? {
      code: 'remote-unreachable',
      message: `The remote "${remote}" (${target.url}) does not answer: ${redact(lastLine(before.stderr), login)}; ask the operator to check it.`,
    };
    return { outcome: failed(why.code, why.message).stop, effects: connects };
  }
  const options = [
    '--porcelain',
    '--no-verify',
    '--no-force',
    '--no-follow-tags',
    '--no-signed',
    '--no-recurse-submodules',
    '--receive-pack=git-receive-pack',
  ];
  // A remote of our own making: the repository's configuration says nothing of it.
  const name = `hopgate-${randomUUID()}`;
  const settings = [
    `remote.${name}.url=${target.url}`,
    ...trackingSpecs(session, remote).map((spec) => `remote.${name}.fetch=${spec}`),
  ];
  const ran = await session.run(['push', ...options, '--', name, `${ref}:${ref}`], { access, settings });
  const result = { ...ran, stdout: redact(ran.stdout, login), stderr: redact(ran.stderr, login) };
  const after = await remoteTip();
  // The push may have gone through, and nobody saw.
  if (isStop(after)) return { outcome: after.stop, effects: 'unobserved' };
  if (!after.reached) {
    const { stop } = failed(
      'remote-unreachable',
      `The remote "${remote}" stopped answering; ask what it has before you push again.`,
    );
    return { outcome: stop, effects: 'unobserved' };
  }
  const moved = refEffects(ref, before.sha, after.sha);
  const pushed = after.sha === sha && before.sha !== sha;
  const rejected = rejection(result.stdout);
  // Some remotes let anyone read, and ask who it is only then.
  const denied = pushed || result.exit === 0 || rejected !== null ? null : explained(ran.stderr);
  if (denied !== null) return { outcome: failed(denied.code, denied.message).stop, effects: [...connects, ...moved] };
  const more = {
    pushed,
    upToDate: before.sha === sha,
    sha,
    remote,
    branch,
    network: target.kind === 'network',
    ...(rejected === null ? {} : { rejected }),
  };
  return gitReport('push', result, more, [...connects, ...moved]);
}

/** Where the repository remembers what the remote has: only in places that are for that. */
function trackingSpecs({ config }: GitSession, remote: string): string[] {
  const specs = configValues(config, `remote.${remote}.fetch`);
  return specs.filter((spec) => /^\+?refs\/heads\/[^:\s]+:refs\/remotes\/[^:\s]+$/.test(spec));
}

/** What git or ssh said in the end. */
const lastLine = (stderr: string): string => stderr.trim().split('\n').at(-1) || 'no reason was given';

/** Why the remote did not take it: the summary of a `!` line of `git push --porcelain`. */
function rejection(stdout: string): string | null {
  const line = stdout.split('\n').find((entry) => entry.startsWith('!\t'));
  return line === undefined ? null : (line.split('\t')[2] ?? line);
}
