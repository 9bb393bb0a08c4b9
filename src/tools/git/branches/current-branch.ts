import { join } from 'node:path';
import { readIfAny } from '../../../base/files.ts';
import type { Repository } from '../repository.ts';

/** The name of the branch of HEAD; null if HEAD is detached. */
export const currentBranch = ({ gitDir }: Pick<Repository, 'gitDir'>): string | null =>
  /^ref: refs\/heads\/(.+)\n?$/.exec(readIfAny(join(gitDir, 'HEAD')))?.[1] ?? null;
