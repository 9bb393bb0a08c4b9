import type { DiskTree } from './disk-tree.ts';
import type { FoundDeploy, FoundTest } from './found-commands.ts';

function targets(tree: DiskTree): readonly string[] {
  const text =
    ['GNUmakefile', 'makefile', 'Makefile'].map((name) => tree.read(name)).find((found) => found !== null) ?? '';
  return [...text.matchAll(/^([\w./-]+(?: +[\w./-]+)*) *::?(?!=)/gm)].flatMap((match) => match[1]!.split(/ +/));
}

/** The Makefile's `test` (or `check`) target. */
export function makefileTest(tree: DiskTree): FoundTest | null {
  const target = ['test', 'check'].find((name) => targets(tree).includes(name));
  return target === undefined ? null : { run: ['make', target], report: 'none', because: `Makefile: ${target}` };
}

/** The Makefile's targets `deploy` and `deploy-<name>`. */
export const makefileDeploys = (tree: DiskTree): readonly FoundDeploy[] =>
  [...new Set(targets(tree))]
    .filter((target) => /^deploy(-[a-z][a-z0-9-]*)?$/.test(target))
    .map((target) => ({
      name: target === 'deploy' ? 'deploy' : target.slice('deploy-'.length),
      run: ['make', target],
      because: `Makefile: ${target}`,
    }));
