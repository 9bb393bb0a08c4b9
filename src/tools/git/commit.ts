import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { invalid, isStop, type Stop } from '../workspace/outcome.ts';
import type { GitSession } from './git-session.ts';
import { configValues } from './judge-config.ts';
import { optionWords, type ParsedGit } from './parse-arguments.ts';
import { gitReport, refEffects } from './report.ts';
import { stage } from './stage.ts';

/** Who commits where the repository's own configuration names nobody. */
const AGENT = { name: 'hopgate agent', email: 'agent@hopgate.invalid' };

/** `git commit`: records what is staged. `--all` first stages the changed tracked files that the agent may change. */
export async function commitGit(session: GitSession, call: ToolCall, parsed: ParsedGit): Promise<ToolReport | Stop> {
  if (parsed.operands.length + parsed.paths.length > 0)
    return invalid('args', 'git commit takes no paths here.', 'Stage them first: {sub: "add", args: ["path"]}.');
  const named = (long: string) => parsed.options.filter(({ option }) => option.long === long);
  if (named('message').length === 0)
    return invalid('args', 'git commit needs a message.', 'Write {sub: "commit", args: ["-m", "what changed"]}.');
  const staged = named('all').length === 0 ? null : await stage(session, call, [], true);
  if (staged !== null && isStop(staged)) return staged;
  const skipped = { skipped: [...(staged?.skipped ?? [])] };
  if (staged !== null && staged.result.exit !== 0)
    return gitReport('commit', staged.result, { committed: false, sha: null, ref: null, paths: [], ...skipped });

  const before = await headOf(session);
  if (isStop(before)) return before;
  const words = ['commit', '--no-verify', '--no-gpg-sign', '--no-status', ...optionWords(named('quiet')), '--file=-'];
  // As git joins several; one may be longer than a word of a command line can be.
  const stdin = named('message')
    .map(({ value }) => value)
    .join('\n\n');
  const result = await session.run(words, { access: { kind: 'commit' }, env: identity(session), stdin });
  const after = await headOf(session);
  // The commit may have been made, and nobody saw.
  if (isStop(after)) return { outcome: after.stop, effects: 'unobserved' };
  const committed = after.sha !== null && after.sha !== before.sha;
  const paths = committed ? await committedPaths(session, before.sha, after.sha!) : { paths: [] };
  if (isStop(paths)) return paths;
  const more = { committed, sha: committed ? after.sha : null, ref: after.ref, paths: [...paths.paths], ...skipped };
  return gitReport('commit', result, more, refEffects(after.ref, before.sha, after.sha));
}

/** The commit that HEAD stands at, and the branch that moves with it (`HEAD` itself where it is detached). */
async function headOf(session: GitSession): Promise<{ readonly sha: string | null; readonly ref: string } | Stop> {
  const sha = await session.ask(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  if (isStop(sha)) return sha;
  const ref = await session.ask(['symbolic-ref', '--quiet', 'HEAD']);
  if (isStop(ref)) return ref;
  return { sha: sha.stdout?.trim() ?? null, ref: ref.stdout?.trim() ?? 'HEAD' };
}

/** What the commit changed of the branch; of a merge, what it brought. */
async function committedPaths(
  session: GitSession,
  before: string | null,
  after: string,
): Promise<{ readonly paths: readonly string[] } | Stop> {
  const commits = before === null ? ['--root', after] : [before, after];
  const listed = await session.ask(['diff-tree', '--no-commit-id', '--name-only', '-r', '-z', ...commits]);
  return isStop(listed) ? listed : { paths: (listed.stdout ?? '').split('\0').filter((path) => path !== '') };
}

function identity({ config }: GitSession): { readonly [name: string]: string } {
  const name = configValues(config, 'user.name').at(-1) ?? AGENT.name;
  const email = configValues(config, 'user.email').at(-1) ?? AGENT.email;
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}
