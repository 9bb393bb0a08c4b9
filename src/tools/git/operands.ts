import { join } from 'node:path';
import { lstatIfAny } from '../../base/files.ts';
import { valueOr } from '../../base/value-or.ts';
import { isCommitName } from '../../gate/commands/git-command.ts';
import { isGitInternal } from '../../gate/scope/masks.ts';
import { parsePathArgument } from '../workspace/path-argument.ts';
import { invalidArgumentStop, isStop, outOfScopeStop, type ToolStop } from '../workspace/tool-stop.ts';

/** A ref or a range of two refs with `^{commit}` at each ref, so that no blob can be named; null for any other word. */
export function peelToCommit(word: string): string | null {
  const [, from, dots, to] = /^(.*?)(\.\.\.?)(.*)/s.exec(word) ?? [];
  const peel = (ref: string) => `${ref}^{commit}`;
  if (dots === undefined) return isCommitName(word) ? peel(word) : null;
  if ((from === '' && to === '') || ![from, to].every((ref) => ref === '' || isCommitName(ref!))) return null;
  return `${from === '' ? '' : peel(from!)}${dots}${to === '' ? '' : peel(to!)}`;
}

export interface OperandPathRules {
  readonly root: string;
  readonly masked: (relPath: string) => boolean;
}

/** The root-relative path (`''` is the root) of a word; refused if it leaves the root, is masked or is git's own. */
export function parsePathOperand(rules: OperandPathRules, word: string): { readonly path: string } | ToolStop {
  const parsed = parsePathArgument(rules.root, 'args', word);
  if (isStop(parsed)) return parsed;
  const path = parsed.segments.join('/');
  if (rules.masked(path)) return outOfScopeStop('args', `"${word}" is masked in hopgate.yaml.`, 'Leave it out.');
  if (isGitInternal(path))
    return outOfScopeStop('args', `"${word}" belongs to git itself.`, 'Name files of the work tree.');
  return { path };
}

/** Divides words: those that exist in the work tree are paths; all others must look like revisions. */
export function divideGitOperands(
  rules: OperandPathRules,
  operands: readonly string[],
  afterDashes: readonly string[],
): { readonly revisions: readonly string[]; readonly paths: readonly string[] } | ToolStop {
  const revisions: string[] = [];
  const paths: string[] = [];
  for (const word of [...operands, ...afterDashes.map((path) => ({ path }))]) {
    if (typeof word === 'string' && !isInTree(rules.root, word)) {
      const peeled = peelToCommit(word);
      if (peeled === null)
        return invalidArgumentStop(
          'args',
          `"${word}" is neither a path in the work tree nor the name of a commit.`,
          'Name a branch, tag, commit, main..HEAD or HEAD~1; put -- before paths that are gone.',
        );
      revisions.push(peeled);
      continue;
    }
    const read = parsePathOperand(rules, typeof word === 'string' ? word : word.path);
    if (isStop(read)) return read;
    paths.push(read.path);
  }
  return { revisions, paths };
}

export const literalPathspec = (path: string): string => (path === '' ? ':/' : `:(top,literal)${path}`);

export const excludingPathspec = (path: string): string => `:(top,literal,exclude)${path}`;

function isInTree(root: string, word: string): boolean {
  const parsed = parsePathArgument(root, 'args', word);
  if (isStop(parsed)) return false;
  return valueOr(() => lstatIfAny(join(root, ...parsed.segments)) !== undefined, false);
}
