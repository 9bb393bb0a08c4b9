import { isWithin } from '../../base/paths.ts';
import { findProgram } from '../../base/process.ts';
import type { Tree } from './tree.ts';

const MOST_WORDS = 2000;

/**
 * Programs that the repository's scripts seem to start, that are on the operator's PATH but in no system folder. The
 * sandbox lacks them unless `programs` names them. The scan only looks at words: it is a proposal for the operator to
 * read, and grants nothing.
 */
export function scriptPrograms(tree: Tree, path: string | undefined, shown: readonly string[]): readonly string[] {
  const texts = ['GNUmakefile', 'makefile', 'Makefile', 'package.json'].map((name) => tree.read(name) ?? '');
  const words = new Set(texts.flatMap((text) => text.match(/(?<![\w./-])[a-z][\w.+-]+(?![\w./=-])/g) ?? []));
  return [...words].slice(0, MOST_WORDS).filter((word) => {
    const file = findProgram(word, path);
    return file !== null && !['/usr', '/bin', '/sbin', ...shown].some((folder) => isWithin(folder, file));
  });
}
