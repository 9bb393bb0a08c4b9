import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';
import { AnchorMovedError, type Anchors, defaultAnchors, realPathAnchors } from './anchors.ts';
import { watchNativeFileTools } from './native-watch.ts';
import {
  failedToolStop,
  isStop,
  missingRootStop,
  outOfScopeStop,
  type ToolStop,
  tooLongCommandStop,
} from './tool-stop.ts';

type Tool = (call: ToolCall, anchors: Anchors) => Promise<ToolReport | ToolStop> | ToolReport | ToolStop;

/** Tools are loaded at their first call; some clients run them natively and only have them watched. */
const TOOLS: { readonly [id: string]: () => Promise<Tool> } = {
  read: async () => (await import('./read-tool.ts')).runReadTool,
  glob: async () => (await import('./glob-tool.ts')).runGlobTool,
  grep: async () => (await import('./grep-tool.ts')).runGrepTool,
  edit: async () => (await import('./edit-tool.ts')).runEditTool,
  write: async () => (await import('./write-tool.ts')).runWriteTool,
};

/** File-system errors that the call reports as failures; any other is thrown. */
const SYSTEM_ERRORS: { readonly [code: string]: readonly [code: string, message: string] } = {
  ENOENT: ['not-found', 'It no longer exists; search again with glob.'],
  ENOTDIR: ['not-a-folder', 'Part of the path is not a folder.'],
  EISDIR: ['is-a-folder', 'It is a folder; list it with glob.'],
  ENAMETOOLONG: ['name-too-long', 'A name in the path is too long for the file system.'],
  EACCES: ['permission-denied', 'The file system does not permit it; ask the operator.'],
  EPERM: ['permission-denied', 'The file system does not permit it; ask the operator.'],
  EROFS: ['read-only', 'The file system is read-only; ask the operator.'],
  ENOSPC: ['disk-full', 'No space is left on the disk; ask the operator to free some.'],
  EDQUOT: ['disk-full', 'The disk quota of the operator is used up; ask the operator to free some space.'],
  EMFILE: ['too-many-open-files', 'hopgate has too many open files; ask the operator to raise the limit (ulimit -n).'],
  EBUSY: ['busy', 'It is in use as a mount point; write elsewhere.'],
  ETXTBSY: ['busy', 'It is being executed; stop it first.'],
};

/**
 * Files and search under the root: `read`, `glob`, `grep`, `edit`, `write`. Enforces the envelope against the real file
 * system: links are resolved under the root, masks apply to all five tools, and writes stay within the scope and away
 * from protected names.
 *
 * On Linux no race leads out of the root, because every step uses a descriptor. Elsewhere (`containment: 'real-path'`)
 * paths are compared before and after, which detects a swap only afterwards.
 */
export function workspaceBackend(options: { readonly containment?: 'real-path' } = {}): ToolBackend {
  const anchors = options.containment === 'real-path' ? realPathAnchors : defaultAnchors();
  return {
    name: 'workspace',
    tools: Object.keys(TOOLS),
    native: watchNativeFileTools(anchors),
    async run(call) {
      const load = Object.hasOwn(TOOLS, call.tool.id) ? TOOLS[call.tool.id] : undefined;
      if (!load) throw new Error(`[tools/workspace] serves no tool "${call.tool.id}"`);
      const result = call.signal.aborted ? { stop: ABORTED_OUTCOME } : await attempt(await load(), call, anchors);
      return isStop(result) ? { outcome: result.stop, effects: [] } : result;
    },
  };
}

async function attempt(tool: Tool, call: ToolCall, anchors: Anchors): Promise<ToolReport | ToolStop> {
  try {
    return await tool(call, anchors);
  } catch (error) {
    if (error instanceof AnchorMovedError)
      return outOfScopeStop(
        'path',
        `${error.message}, so nothing was done.`,
        'Try again when no other program changes it.',
      );
    const missing = missingRootStop(call.envelope.root);
    if (missing) return missing;
    const failure = SYSTEM_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    if (failure) return failedToolStop(...failure);
    const stop = tooLongCommandStop(error, 'pattern', 'Search for a shorter text.');
    if (stop !== null) return stop;
    throw new Error(`${call.tool.id} broke: ${(error as Error).message}`, { cause: error });
  }
}
