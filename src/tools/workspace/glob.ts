import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import type { Anchors } from './anchors.ts';
import { fileGlob } from './file-glob.ts';
import { failed, isStop, type Stop } from './outcome.ts';
import { ripgrep } from './ripgrep.ts';
import { searchRoot } from './search-root.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** glob { pattern, path? }: the files that match, beneath `path`, as ripgrep lists them (ignored files left out), masked files absent. */
export async function globTool(call: ToolCall, anchors: Anchors): Promise<ToolReport | Stop> {
  const glob = fileGlob(call, 'pattern', false);
  if (isStop(glob)) return glob;
  const root = searchRoot(call, anchors);
  if (isStop(root)) return root;
  const { seconds, outputBytes } = call.tool.limits;
  const files: string[] = [];
  let size = 0;
  try {
    const run = await ripgrep(
      root.folder,
      ['--files', '--null'],
      root.target,
      '\0',
      { seconds, signal: call.signal },
      (record) => {
        const path = decodeName(record);
        if (path === null || !glob.matches(path)) return true;
        const place = root.hold(path);
        if (!place) return true;
        place.close();
        const file = root.rootRelative(path);
        size += Buffer.byteLength(JSON.stringify(file)) + 1;
        if (size > outputBytes) return false;
        files.push(file);
        return true;
      },
    );
    if (run.end === 'aborted') return failed('aborted', 'The call was aborted.');
    if (run.end === 'error')
      return failed('search-failed', `ripgrep could not list the files: ${run.complaint.trim()}`);
    if (run.end === 'time-limit' && files.length === 0)
      return failed('time-limit', `Nothing was found within ${seconds} s; search a smaller folder.`);
    return { outcome: { status: 'ok', result: { files: files.sort(), truncated: run.end !== 'done' } }, effects: [] };
  } finally {
    root.close();
  }
}

/** A name that is not UTF-8 cannot be said in an argument, so it is not listed either. */
function decodeName(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes).replace(/^\.\//, '');
  } catch {
    return null;
  }
}
