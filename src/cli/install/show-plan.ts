import { escapeInvisible } from '../../base/text.ts';
import { type Io, paint, print } from '../io.ts';
import { lineDiff } from '../line-diff.ts';
import { changesOf } from './apply-install.ts';
import type { FileChange, InstallPlan } from './installer.ts';

/** The longest diff to show in full. */
const MOST_LINES = 60;

export function showPlan(io: Io, { changes }: Pick<InstallPlan, 'changes'>): void {
  for (const change of changesOf(changes)) {
    print(io, paint(io, 'bold', titleOf(change)));
    for (const line of shownDiff(change))
      print(io, paint(io, line.startsWith('-') ? 'red' : 'green', `  ${escapeInvisible(line)}`));
  }
}

const titleOf = ({ path, before, after }: FileChange): string =>
  after === null ? `- ${path}` : before === null ? `+ ${path}` : `~ ${path}`;

function shownDiff({ before, after, isOurs = false }: FileChange): readonly string[] {
  if (isOurs) return [];
  const lines = lineDiff(before ?? '', after ?? '').filter((line) => !line.startsWith(' '));
  return lines.length <= MOST_LINES ? lines : [...lines.slice(0, MOST_LINES), `  … ${lines.length - MOST_LINES} more`];
}
