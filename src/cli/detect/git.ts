/** Asks git; null if git fails. */
export type AskGit = (args: readonly string[]) => Promise<string | null>;

/** The remote (`origin`, or the only one) and the branch to push: its HEAD, or the checked-out branch. */
export async function detectGit(git: AskGit): Promise<{ readonly remote: string; readonly branch: string } | null> {
  const remotes = ((await git(['remote'])) ?? '').split('\n').filter((line) => line !== '');
  const remote = remotes.includes('origin') ? 'origin' : remotes.length === 1 ? remotes[0]! : null;
  if (remote === null) return null;
  const head = await git(['symbolic-ref', '--quiet', '--short', `refs/remotes/${remote}/HEAD`]);
  const branch =
    head?.trim().slice(remote.length + 1) || (await git(['symbolic-ref', '--quiet', '--short', 'HEAD']))?.trim();
  return branch ? { remote, branch } : null;
}
