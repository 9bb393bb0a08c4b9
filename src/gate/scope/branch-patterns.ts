import { compileGlob } from '../../base/glob.ts';
import type { GitConfig } from '../../spec/types.ts';

/** The patterns of the branches that may be created and pushed. */
export const branchPatterns = ({ branch }: Pick<GitConfig, 'branch'>): readonly string[] =>
  typeof branch === 'string' ? [branch] : branch;

/**
 * True if `git.branch` allows a branch: `*` matches any characters but `/`, and `**` any number of names.
 *
 * @example mayShipBranch('agent/fix', { branch: ['main', 'agent/*'] }) // true
 */
export function mayShipBranch(name: string, git: Pick<GitConfig, 'branch'>): boolean {
  const names = name.split('/');
  if (names.includes('')) return false;
  return branchPatterns(git).some((pattern) =>
    pattern.includes('*') ? compileGlob(pattern)(names) : pattern === name,
  );
}

/** The branch that a push without a branch name sends; null if the push is not allowed. */
export function branchToShip(current: string | null, git: Pick<GitConfig, 'branch'>): string | null {
  if (typeof git.branch === 'string') return git.branch;
  return current !== null && mayShipBranch(current, git) ? current : null;
}
