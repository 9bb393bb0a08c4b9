import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArgumentRefusal } from '../../gate/commands/argument-refusal.ts';
import { commandProblem } from '../../gate/commands/judge-command.ts';
import { urlProblem } from '../../gate/scope/judge-url.ts';
import { isMaskedByConfig, isWriteProtected } from '../../gate/scope/masks.ts';
import type { CallEnvelope, ToolCall } from '../../ports/tool-backend.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import type { Fields, Json, ToolParameter, ToolSpec, UpstreamTool } from '../../spec/types.ts';
import type { Anchors } from '../workspace/anchors.ts';
import { holdPathArgument, type PathAccess } from '../workspace/hold-path.ts';
import { isUnderSegments } from '../workspace/path-argument.ts';
import { refuseNonFile, refuseReplacing } from '../workspace/regular-file.ts';
import { isStop, outOfScopeStop, refusalStop, type ToolStop } from '../workspace/tool-stop.ts';
import { walkPathBeneath } from '../workspace/walk-beneath.ts';

/** A path that a call passes to its server, with links resolved. */
export interface PassedPath {
  /** The path from the root, as a list of names. */
  readonly real: readonly string[];
  readonly access: PathAccess;
  readonly kind: 'file' | 'folder' | 'missing';
}

export interface PreparedArguments {
  /** The arguments under the server's names, with absolute paths. */
  readonly args: Fields;
  readonly paths: readonly PassedPath[];
}

/** Prepares a call's arguments for its server. Checks each by its role, and a path as the file tools do. */
export async function prepareArguments(
  call: ToolCall,
  { parameters, upstream }: ToolSpec & { readonly upstream: UpstreamTool },
  anchors: Anchors,
): Promise<PreparedArguments | ToolStop> {
  const args: { [name: string]: Json } = {};
  const paths: PassedPath[] = [];
  for (const parameter of parameters) {
    const { name, role, as } = parameter;
    const value = call.args[name];
    if (value === undefined && !ARGUMENT_ROLE_FACTS[role].absentMeansRoot) continue;
    let problem: ArgumentRefusal | null = null;
    let passed = value;
    switch (role) {
      case 'path:read':
      case 'path:write': {
        const access = role === 'path:read' ? 'read' : 'write';
        const found = await resolvePaths(call, parameter, access, upstream, anchors);
        if (isStop(found)) return found;
        paths.push(...found.paths);
        if (value !== undefined) passed = found.value;
        break;
      }
      case 'url':
        problem = urlProblem(name, value, call.envelope.config.web.allow);
        break;
      case 'command':
        problem = commandProblem({ ...call, ...call.envelope, message: null });
        break;
      case 'resource':
      case 'agency':
      case 'text':
        break;
      default:
        role satisfies never;
    }
    if (problem) return refusalStop(problem);
    if (passed !== undefined) args[as ?? name] = passed;
  }
  return { args, paths };
}

/** A missing path for reading means the root, so the root is checked although no path is passed. */
async function resolvePaths(
  call: ToolCall,
  { name }: ToolParameter,
  access: PathAccess,
  { folders }: UpstreamTool,
  anchors: Anchors,
): Promise<{ readonly value: Json; readonly paths: readonly PassedPath[] } | ToolStop> {
  const value = call.args[name] ?? '.';
  const paths: PassedPath[] = [];
  const handed: string[] = [];
  for (const path of Array.isArray(value) ? value : [value]) {
    const held = holdPathArgument({ ...call, args: { [name]: path } }, name, access, anchors);
    if (isStop(held)) return held;
    const { real, kind } = held;
    try {
      const shown = real.join('/') || '.';
      if (kind === 'special') return refuseNonFile(held, name)!;
      const linked = kind === 'file' && access === 'write' ? refuseReplacing(held.anchor.stat, shown, name) : null;
      if (linked) return linked;
    } finally {
      held.close();
    }
    if (kind === 'folder' && folders === 'contents') {
      const problem = await folderProblem(call.envelope, real, access, anchors);
      if (problem)
        return outOfScopeStop(
          name,
          `"${real.join('/') || '.'}" cannot be handed to this tool: ${problem}.`,
          'Name a deeper folder, or files.',
        );
    }
    paths.push({ real, access, kind });
    handed.push(join(call.envelope.root, ...real));
  }
  return { value: Array.isArray(value) ? handed : handed[0]!, paths };
}

const MAX_FILES = 100_000;

/**
 * Explains why a folder may not be passed to a server, which can read everything in it; null if it may. hopgate cannot
 * remove masked files from the server's answers.
 * @param folder root-relative segments
 */
async function folderProblem(
  { root, config }: CallEnvelope,
  folder: readonly string[],
  access: PathAccess,
  anchors: Anchors,
): Promise<string | null> {
  const waiting: string[][] = [[...folder]];
  let seen = 0;
  for (let here = waiting.pop(); here !== undefined; here = waiting.pop()) {
    const entries = await readdir(join(root, ...here), { withFileTypes: true }).catch(() => []);
    seen += entries.length;
    if (seen > MAX_FILES) return `more than ${MAX_FILES} files are in it, too many to check`;
    for (const entry of entries) {
      const segments = [...here, entry.name];
      const path = segments.join('/');
      if (isMaskedByConfig(path, config.mask)) return `it contains "${path}", which is masked`;
      if (access === 'write' && isWriteProtected(path)) return `it contains "${path}", which no agent may write`;
      if (entry.isDirectory()) waiting.push(segments);
      else if (entry.isSymbolicLink()) {
        const target = walkPathBeneath(root, segments, anchors);
        if ('close' in target) target.close();
        if (target.kind === 'leaves') return `it contains the link "${path}", which leads out of the root`;
        if ('real' in target && isMaskedByConfig(target.real.join('/'), config.mask))
          return `the link "${path}" in it leads to a masked file`;
        if (access === 'write' && !('real' in target && isUnderSegments(target.real, folder)))
          return `the link "${path}" in it leads elsewhere`;
      }
    }
  }
  return null;
}
