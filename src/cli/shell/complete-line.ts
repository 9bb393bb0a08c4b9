import { dirname, join } from 'node:path';
import { listFolderEntries } from '../../base/files.ts';
import { splitWords } from '../../base/text.ts';
import type { Session } from '../../session/session.ts';

export const SHELL_VERBS = splitWords('hop mode start stop status why log inbox close help exit');

/** Completes a line with the available actions: `[matches, completed part]`, as node:readline expects it. */
export function completeLine(session: Session, line: string, root: string): [string[], string] {
  const words = line.split(/\s+/);
  const last = words.at(-1) ?? '';
  const matching = (candidates: readonly string[]): [string[], string] => {
    const unique = [...new Set(candidates)].sort();
    return [unique.filter((candidate) => candidate.startsWith(last)), last];
  };
  const here = session.available();
  if (words.length <= 1) return matching([...here.tools, ...SHELL_VERBS]);
  const before = words.at(-2);
  switch (words[0]) {
    case 'hop':
    case 'start':
      if (before === '--exit')
        return matching(here.hops.filter(({ to }) => to === words[1]).flatMap(({ exit }) => exit ?? []));
      return words.length === 2 ? matching(here.hops.map(({ to }) => to)) : matching(['--exit', '--reason', '--by']);
    case 'mode':
      return words.length === 2
        ? matching(here.modes.map(({ to }) => to))
        : matching(['--summary', '--reset', '--reason']);
    case 'why':
      return words.length === 2 ? matching(here.tools) : matching(paths(last, root));
    default:
      return matching(paths(last, root));
  }
}

/** Completes paths within the root, including paths that the gate would refuse. */
function paths(text: string, root: string): string[] {
  const folder = text.endsWith('/') ? text : dirname(text) === '.' ? '' : `${dirname(text)}/`;
  return listFolderEntries(join(root, folder)).map((each) =>
    join(folder, each.isDirectory() ? `${each.name}/` : each.name),
  );
}
