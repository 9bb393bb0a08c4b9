import type { GitConfig } from '../../../spec/types.ts';

/** True if the branch is a configured one. The configuration may have patterns with `*` and `**`. */
export function isConfiguredBranch(branch: string, { branch: stated }: Pick<GitConfig, 'branch'>): boolean {
  const all = typeof stated === 'string' ? [stated] : stated;
  return !branch.split('/').includes('') && all.some((pattern) => fitsBranchPattern(pattern, branch));
}

/** True if a name fits a pattern: `*` matches any characters but `/`, and `**` any number of names. */
export const fitsBranchPattern = (pattern: string, name: string): boolean =>
  matchesSegments(pattern.split('/'), name.split('/'));

function matchesSegments([part, ...parts]: readonly string[], names: readonly string[]): boolean {
  if (part === undefined) return names.length === 0;
  if (part === '**')
    return matchesSegments(parts, names) || (names.length > 0 && matchesSegments([part, ...parts], names.slice(1)));
  const [name, ...rest] = names;
  return name !== undefined && fitsName(part, name) && matchesSegments(parts, rest);
}

function fitsName(part: string, name: string): boolean {
  const [first = '', ...others] = part.split('*');
  if (others.length === 0) return part === name;
  if (!name.startsWith(first)) return false;
  const last = others.pop() ?? '';
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}
