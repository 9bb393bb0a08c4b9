import { splitWords } from '../../base/text.ts';
import { isStop, type ToolStop } from '../workspace/tool-stop.ts';
import type { GitSession } from './git-session.ts';

/** A file whose content in the work tree differs from what is staged. */
export interface ChangedFile {
  readonly path: string;
  readonly tracked: boolean;
  /** True if the file has an unresolved merge conflict. */
  readonly unmerged: boolean;
  /** The staged blob; null if it is the same as in HEAD. */
  readonly staged: string | null;
}

/** Lists the files that could be staged; submodules are not searched. */
export async function listChangedFiles(
  session: GitSession,
): Promise<{ readonly files: readonly ChangedFile[] } | ToolStop> {
  const words = splitWords('status --porcelain=v2 -z --untracked-files=all --no-renames --ignore-submodules=dirty');
  const listed = await session.ask(words);
  return isStop(listed) ? listed : { files: parseStatus(listed.stdout ?? '') };
}

/** Reads `git status --porcelain=v2 -z`. */
function parseStatus(stdout: string): ChangedFile[] {
  const records = stdout.split('\0');
  const files: ChangedFile[] = [];
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!;
    const changed = record[3] !== '.';
    switch (record[0]) {
      case '1':
        if (changed)
          files.push({ path: afterSpaces(record, 8), tracked: true, unmerged: false, staged: stagedIn(record) });
        break;
      case '2':
        i++; // The next field is the path before the rename.
        if (changed)
          files.push({ path: afterSpaces(record, 9), tracked: true, unmerged: false, staged: stagedIn(record) });
        break;
      case 'u':
        files.push({ path: afterSpaces(record, 10), tracked: true, unmerged: true, staged: null });
        break;
      case '?':
        files.push({ path: record.slice(2), tracked: false, unmerged: false, staged: null });
        break;
    }
  }
  return files;
}

const stagedIn = (record: string): string | null => (record[2] === '.' ? null : record.split(' ', 8)[7]!);

function afterSpaces(record: string, count: number): string {
  let at = 0;
  for (let i = 0; i < count; i++) at = record.indexOf(' ', at) + 1;
  return record.slice(at);
}
