import { isMaskedByConfig } from '../../gate/scope/masks.ts';
import type { ToolCall, ToolRefusal } from '../../ports/tool-backend.ts';
import { detectGitPaths } from '../git-paths.ts';
import type { Anchors } from './anchors.ts';
import { compileGlobArgument } from './file-glob.ts';
import { runRipgrep } from './ripgrep.ts';
import { holdSearchRoot } from './search-root.ts';
import { isStop, outOfScopeStop, type ToolStop } from './tool-stop.ts';

/** Time limit in seconds for finding masked files before another program searches. */
const SECONDS = 3;

/**
 * The refusal of a search by another program, if the searched area has a masked file, because such a program ignores
 * masks. null if the search is allowed.
 */
export async function refuseNativeSearch(call: ToolCall, anchors: Anchors): Promise<ToolRefusal | null> {
  const stop = await judgeSearch(call, anchors);
  return stop?.stop.status === 'refused' ? stop.stop : null;
}

async function judgeSearch(call: ToolCall, anchors: Anchors): Promise<ToolStop | null> {
  const { id } = call.tool;
  const globs = id === 'glob' ? [['pattern', false] as const] : [['glob', true] as const];
  for (const [argument, anywhere] of globs) {
    if (call.args[argument] === undefined) continue;
    const glob = compileGlobArgument(call, argument, anywhere);
    if (isStop(glob)) return glob;
  }
  const { scope, config } = call.envelope;
  if (scope.read === 'session-log')
    return useOurSearch(
      call,
      'Only files that this session has named may be read here, and the search of another program would show all files.',
    );
  const git = detectGitPaths(call.envelope.root);
  const root = holdSearchRoot(call, anchors);
  if (isStop(root)) return root;
  let masked: string | null = null;
  try {
    const run = await runRipgrep(
      root.folder,
      ['--files', '--null', '--no-ignore'],
      root.target,
      '\0',
      { seconds: SECONDS, signal: call.signal },
      (record) => {
        const path = root.rootRelative(record.toString());
        if (isMaskedByConfig(path, config.mask) || git.holdsCredential(path)) masked = path;
        return masked === null;
      },
    );
    if (masked !== null)
      return useOurSearch(call, `"${masked}" is masked, and a search of another program would show it.`);
    return run.end === 'done' ? null : useOurSearch(call, 'Masked files could not be searched for in time.');
  } finally {
    root.close();
  }
}

const useOurSearch = ({ tool }: ToolCall, message: string): ToolStop =>
  outOfScopeStop(
    'path',
    message,
    `Use hopgate's own "${tool.id}", which leaves such files out, or search another folder.`,
  );
