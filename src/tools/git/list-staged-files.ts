import { parseTreeChanges, type TreeChange } from '../tree/git-tree.ts';
import { isStop, type ToolStop } from '../workspace/tool-stop.ts';
import { findCommit, type GitSession } from './git-session.ts';

/** The entries of the index that differ from HEAD (null before the first commit), regardless of who staged them. */
export async function listStagedFiles(
  session: GitSession,
): Promise<{ readonly head: string | null; readonly files: readonly TreeChange[] } | ToolStop> {
  const found = await findCommit(session, 'HEAD');
  if (isStop(found)) return found;
  const { sha: head } = found;
  const nothing = head ? null : await session.ask(['hash-object', '-t', 'tree', '--stdin'], { stdin: '' });
  if (nothing && isStop(nothing)) return nothing;
  const before = head ?? nothing?.stdout?.trim() ?? '';
  const listed = await session.ask(['diff-index', '--cached', '--raw', '-z', '--no-renames', before, '--']);
  return isStop(listed) ? listed : { head, files: parseTreeChanges(`${listed.stdout ?? ''}\0`) };
}
