import { join } from 'node:path';
import { type Mount, SANDBOX_HOME } from './layout.ts';

/**
 * Tells git in a sandbox not to print what is masked when it compares, as it does for a binary file. A masked file that git tracks lies under an empty
 * one, so that `git diff` would print all of it as deleted. It binds no one who asks git for the content by its name.
 * @param files root-relative paths that are masked
 */
export function maskedInGit(masks: readonly string[], files: readonly string[]): Mount[] {
  if (masks.length + files.length === 0) return [];
  const patterns = [...masks.flatMap(fromMask), ...files.map((path) => `/${path.replace(/[\\*?[]/g, '\\$&')}`)];
  const text = [...new Set(patterns)].map((pattern) => `${JSON.stringify(pattern)} -diff\n`).join('');
  return [{ kind: 'text-file', target: join(SANDBOX_HOME, '.config/git/attributes'), text }];
}

/** A mask in the language of gitattributes, where a folder's pattern does not hold for what is in it. */
function fromMask(mask: string): string[] {
  const bare = mask.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  if (bare === '' || bare.startsWith('!')) return [];
  return bare.includes('/') ? [`/${bare}`, `/${bare}/**`] : [bare, `**/${bare}/**`];
}
