import { join } from 'node:path';
import type { ToolCall } from '../../ports/tool-backend.ts';
import { ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import type { Json, ToolParameter, ToolSpec, UpstreamServer, UpstreamTool } from '../../spec/types.ts';
import { judgeUrl } from '../web/judge-url.ts';
import type { Anchors } from '../workspace/anchors.ts';
import { type Access, locate } from '../workspace/locate.ts';
import { invalid, isStop, outOfScope, type Stop } from '../workspace/outcome.ts';
import { notAFile, notReplaceable } from '../workspace/regular-file.ts';
import { folderProblem } from './folder-contents.ts';

/** A path that a call passes to its server, with links resolved. */
export interface HandedPath {
  /** Root-relative segments. */
  readonly real: readonly string[];
  readonly access: Access;
  readonly kind: 'file' | 'folder' | 'missing';
}

export interface Prepared {
  /** By the server's names, paths absolute. */
  readonly args: { readonly [name: string]: Json };
  readonly paths: readonly HandedPath[];
}

/**
 * Prepares a call's arguments for its server and checks each by its role: paths as the file tools do, addresses against
 * the configured hosts, commands only if the operator vouches for the server.
 */
export async function prepareArguments(
  call: ToolCall,
  { parameters, upstream }: ToolSpec & { readonly upstream: UpstreamTool },
  server: UpstreamServer,
  anchors: Anchors,
): Promise<Prepared | Stop> {
  const args: { [name: string]: Json } = {};
  const paths: HandedPath[] = [];
  for (const parameter of parameters) {
    const { name, role, as } = parameter;
    const value = call.args[name];
    if (value === undefined && !ROLE_FACTS[role].absentMeansRoot) continue;
    let stop: Stop | null = null;
    let handed = value;
    switch (role) {
      case 'path:read':
      case 'path:write': {
        const access = role === 'path:read' ? 'read' : 'write';
        const found = await handPaths(call, parameter, access, upstream, anchors);
        if (isStop(found)) return found;
        paths.push(...found.paths);
        if (value !== undefined) handed = found.value;
        break;
      }
      case 'url':
        stop = urlProblem(call, name);
        break;
      case 'command':
        stop = commandProblem(call, name, server);
        break;
      case 'text':
        break;
      default:
        role satisfies never;
    }
    if (stop) return stop;
    if (handed !== undefined) args[as ?? name] = handed;
  }
  return { args, paths };
}

/** A missing path for reading means the root, so the root is checked although no path is passed. */
async function handPaths(
  call: ToolCall,
  { name }: ToolParameter,
  access: Access,
  { folders }: UpstreamTool,
  anchors: Anchors,
): Promise<{ readonly value: Json; readonly paths: readonly HandedPath[] } | Stop> {
  const value = call.args[name] ?? '.';
  const paths: HandedPath[] = [];
  const handed: string[] = [];
  for (const path of Array.isArray(value) ? value : [value]) {
    const place = locate({ ...call, args: { [name]: path } }, name, access, anchors);
    if (isStop(place)) return place;
    const { real, kind } = place;
    try {
      const shown = real.join('/') || '.';
      if (kind === 'special') return notAFile(place, name)!;
      const linked = kind === 'file' && access === 'write' ? notReplaceable(place.anchor.stat, shown, name) : null;
      if (linked) return linked;
    } finally {
      place.close();
    }
    if (kind === 'folder' && folders === 'contents') {
      const problem = await folderProblem(call.grant, real, access, anchors);
      if (problem)
        return outOfScope(
          name,
          `"${real.join('/') || '.'}" cannot be handed to this tool: ${problem}.`,
          'Name a deeper folder, or files.',
        );
    }
    paths.push({ real, access, kind });
    handed.push(join(call.grant.root, ...real));
  }
  return { value: Array.isArray(value) ? handed : handed[0]!, paths };
}

function urlProblem({ args, grant }: ToolCall, name: string): Stop | null {
  for (const text of [args[name]].flat()) {
    if (typeof text !== 'string') return invalid(name, `"${name}" must be an address.`, 'Give a https:// address.');
    const verdict = judgeUrl(text, grant.config.web.allow);
    if (verdict.ok) continue;
    const { code, message, remedy } = verdict;
    return { stop: { status: 'refused', code, argument: name, message: `${message}.`, remedy } };
  }
  return null;
}

/** A server's commands run outside hopgate's sandbox, so they are allowed only if the server contains them itself. */
function commandProblem({ grant }: ToolCall, name: string, server: UpstreamServer): Stop | null {
  const { command } = grant.scope;
  const contains = command === 'read-only' || command === 'contained';
  if (contains && (server.contained || grant.unsafeNoSandbox)) return null;
  return outOfScope(
    name,
    contains
      ? 'An upstream runs commands outside of the sandbox, and this scope runs them inside only.'
      : 'This scope runs configured commands only, and hopgate itself runs those.',
    contains
      ? "Use hopgate's own shell tools; or the operator sets contained: true for a server that sandboxes its commands."
      : "Use hopgate's own tools for them.",
  );
}
