import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { ABORTED } from '../tool-outcomes.ts';
import type { Anchors } from './anchors.ts';
import { fileGlob } from './file-glob.ts';
import { runRipgrep } from './ripgrep.ts';
import { searchRoot } from './search-root.ts';
import { failedStop, isStop, type ToolStop } from './tool-stop.ts';
import { decodePath, removeDotSlash, UnnameableFiles } from './unnameable-files.ts';

/** glob { pattern, path? }: lists the matching files under `path` with ripgrep, without ignored and masked files. */
export async function globTool(call: ToolCall, anchors: Anchors): Promise<ToolReport | ToolStop> {
  const glob = fileGlob(call, 'pattern', false);
  if (isStop(glob)) return glob;
  const root = searchRoot(call, anchors);
  if (isStop(root)) return root;
  const { seconds, outputBytes } = call.tool.limits;
  const files: string[] = [];
  const unnameable = new UnnameableFiles();
  let size = 0;
  try {
    const run = await runRipgrep(
      root.folder,
      ['--files', '--null'],
      root.target,
      '\0',
      { seconds, signal: call.signal },
      (record) => {
        const name = removeDotSlash(record);
        const path = decodePath(name);
        if (!glob.matches(path ?? name.toString())) return true;
        if (path === null) {
          unnameable.add(root, name);
          return true;
        }
        const held = root.hold(path);
        if (!held) return true;
        held.close();
        const file = root.rootRelative(path);
        size += Buffer.byteLength(JSON.stringify(file)) + 1;
        if (size > outputBytes) return false;
        files.push(file);
        return true;
      },
    );
    if (run.end === 'aborted') return { stop: ABORTED };
    if (run.end === 'error')
      return failedStop('search-failed', `ripgrep could not list the files: ${run.stderr.trim()}`);
    if (run.end === 'time-limit' && files.length === 0)
      return failedStop('time-limit', `Nothing was found within ${seconds} s; search a smaller folder.`);
    const result = { files: files.sort(), truncated: run.end !== 'done', ...unnameable.field };
    return { outcome: { status: 'ok', result }, effects: [] };
  } finally {
    root.close();
  }
}
