import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';
import type { Anchors } from './anchors.ts';
import { compileGlobArgument } from './file-glob.ts';
import { runRipgrep } from './ripgrep.ts';
import { holdSearchRoot } from './search-root.ts';
import { failedToolStop, isStop, type ToolStop } from './tool-stop.ts';
import { decodeNameablePath, removeDotSlash, UnnameableFiles } from './unnameable-files.ts';

/** Runs `glob { pattern, path? }`: lists matching files under `path` with ripgrep, without ignored and masked files. */
export async function runGlobTool(call: ToolCall, anchors: Anchors): Promise<ToolReport | ToolStop> {
  const glob = compileGlobArgument(call, 'pattern', false);
  if (isStop(glob)) return glob;
  const root = holdSearchRoot(call, anchors);
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
        const path = decodeNameablePath(name);
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
    if (run.end === 'aborted') return { stop: ABORTED_OUTCOME };
    if (run.end === 'error')
      return failedToolStop('search-failed', `ripgrep could not list the files: ${run.stderr.trim()}`);
    if (run.end === 'time-limit' && files.length === 0)
      return failedToolStop('time-limit', `Nothing was found within ${seconds} s; search a smaller folder.`);
    const result = { files: files.sort(), truncated: run.end !== 'done', ...unnameable.field };
    return { outcome: { status: 'ok', result }, effects: [] };
  } finally {
    root.close();
  }
}
