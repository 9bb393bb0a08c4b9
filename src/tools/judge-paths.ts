import { replaceMethod } from '../base/replace-method.ts';
import type { ToolBackend, ToolCall, ToolRefusal } from '../ports/tool-backend.ts';
import { ARGUMENT_ROLE_FACTS } from '../spec/policy/argument-roles.ts';
import { readNamedFiles } from './upstream/observe-paths.ts';
import { type Anchors, defaultAnchors } from './workspace/anchors.ts';
import { holdPathArgument } from './workspace/hold-path.ts';
import { refuseReplacing } from './workspace/regular-file.ts';
import { isStop } from './workspace/tool-stop.ts';

/**
 * Wraps a user's backend: a call with a path that leaves the envelope by a link, or with a hard link to be written, is
 * refused and does not reach the backend. Two cases remain for the backend itself: files in a folder that the call
 * names, and a link that is swapped after this check.
 */
export function withPathChecks(backend: ToolBackend): ToolBackend {
  const anchors = defaultAnchors();
  const checked = replaceMethod(backend, 'run', async (call) => {
    const refused = refusePath(call, anchors);
    return refused ? { outcome: refused, effects: [] } : backend.run(call);
  });
  if (backend.boundFiles) return checked;
  return replaceMethod(checked, 'boundFiles', async (call) => readNamedFiles(call, anchors));
}

/** A missing path is not refused, because a tool's files may be on another machine. */
function refusePath(call: ToolCall, anchors: Anchors): ToolRefusal | null {
  for (const { name, role } of call.tool.parameters) {
    if (role !== 'path:read' && role !== 'path:write') continue;
    const value = call.args[name] ?? (ARGUMENT_ROLE_FACTS[role].absentMeansRoot ? '.' : []);
    for (const path of Array.isArray(value) ? value : [value]) {
      const access = role === 'path:read' ? 'read' : 'write';
      const held = holdPathArgument({ ...call, args: { [name]: path } }, name, access, anchors);
      const isFile = !isStop(held) && held.kind === 'file' && access === 'write';
      const stopped = isFile
        ? refuseReplacing(held.anchor.stat, held.real.join('/'), name)
        : isStop(held)
          ? held
          : null;
      if (!isStop(held)) held.close();
      if (stopped?.stop.status === 'refused') return stopped.stop;
    }
  }
  return null;
}
