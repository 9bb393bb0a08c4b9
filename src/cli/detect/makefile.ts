import type { DetectedDeploy, DetectedTest } from './detected-commands.ts';
import type { ProjectFileReader } from './project-file-reader.ts';

function targets(tree: ProjectFileReader): readonly string[] {
  const text =
    ['GNUmakefile', 'makefile', 'Makefile'].map((name) => tree.read(name)).find((found) => found !== null) ?? '';
  return [...text.matchAll(/^([\w./-]+(?: +[\w./-]+)*) *::?(?!=)/gm)].flatMap((match) => match[1]!.split(/ +/));
}

export function detectMakefileTest(tree: ProjectFileReader): DetectedTest | null {
  const target = ['test', 'check'].find((name) => targets(tree).includes(name));
  return target === undefined ? null : { run: ['make', target], report: 'none', because: `Makefile: ${target}` };
}

export const detectMakefileDeploys = (tree: ProjectFileReader): readonly DetectedDeploy[] =>
  [...new Set(targets(tree))]
    .filter((target) => /^deploy(-[a-z][a-z0-9-]*)?$/.test(target))
    .map((target) => ({
      name: target === 'deploy' ? 'deploy' : target.slice('deploy-'.length),
      run: ['make', target],
      because: `Makefile: ${target}`,
    }));
