import { isAbsolute, normalize } from 'node:path';
import { realpathIfAny } from '../../base/files.ts';
import { fieldsOf, textOf } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import type { Fields, Json } from '../../spec/types.ts';
import { type HopgateServerName, isMcpToolName, parseHopgateToolName } from '../core/calls/mcp-name.ts';
import { isHomePath } from '../core/calls/patch.ts';
import { shellRoutingOf } from '../core/calls/shell-route.ts';
import { type ClientAction, toolCallToAction } from '../core/calls/tool-call-to-action.ts';
import type { ClaudeToolEvent } from './claude-event.ts';
import { clientFileOfCall, isFileWithOneLink, isThere } from './client-file.ts';

/** Translates a call of Claude Code into an action of the session, in its current state. */
export function claudeCallToAction(
  { tool, input: given, fields }: ClaudeToolEvent,
  session: Session,
  ourServer: HopgateServerName,
): ClientAction {
  const input = tool === 'Glob' ? inFolderOfPattern(given) : given;
  const why = isLookAlike(tool, fields, ourServer) ? LOOKS_ALIKE : whyOutside(tool, input);
  if (why !== null) return { kind: 'unmapped', why };
  if (isForClientFile(tool, input, fields)) return { kind: 'inner' };
  const { specs, config, root } = session;
  const cwd = textOf(fields['cwd']);
  return toolCallToAction(
    { provider: 'claude-code', name: tool, input: tool === 'Read' ? fromFirstLine(input) : input },
    {
      specs,
      config,
      root,
      ...shellRoutingOf(session),
      own: ourServer,
      ...(cwd === null ? {} : { cwd: realpathIfAny(cwd) ?? cwd }),
    },
  );
}

/**
 * True if a call reads a saved tool result that exists, or if it reads or writes a plan in plan mode. The plan may be
 * new.
 */
function isForClientFile(tool: string, input: ClaudeToolEvent['input'], fields: ClaudeToolEvent['fields']): boolean {
  const transcript = textOf(fields['transcript_path']);
  const kind = transcript === null ? null : clientFileOfCall(transcript, tool, input);
  if (kind === null || (kind === 'plan' && fields['permission_mode'] !== 'plan')) return false;
  const path = String(input['file_path']);
  return isFileWithOneLink(path) || (kind === 'plan' && !isThere(path));
}

/**
 * True if the tool has the name of a hopgate tool, but belongs to another server. The client names the server of each
 * tool. A server with hopgate's name that does not come from its plugin is not hopgate's.
 */
function isLookAlike(
  tool: string,
  { mcp_server: from }: ClaudeToolEvent['fields'],
  ourServer: HopgateServerName,
): boolean {
  const { name, source } = fieldsOf(from);
  return (
    parseHopgateToolName(tool, ourServer) !== null &&
    from !== undefined &&
    (name !== ourServer.server || source !== 'plugin')
  );
}

const LOOKS_ALIKE = "belongs to another MCP server that has the name of hopgate's server";

/** The reason to refuse these arguments of a harmless tool; completes "the tool …". null if there is none. */
function whyOutside(tool: string, input: ClaudeToolEvent['input']): string | null {
  if ((tool === 'Agent' || tool === 'Task') && input['isolation'] !== undefined)
    return 'would start an agent in another working tree, outside of this session; leave out the argument isolation';
  if (tool === 'SendMessage' && input['to'] !== 'main')
    return 'reaches agents that are not in this session; start a sub-agent with Agent instead';
  if (tool === 'SendUserMessage' && input['attachments'] !== undefined)
    return 'would send files out of the repository; leave out the argument attachments';
  // Claude Code would run the slash command as if the user had typed it, together with the shell commands in the
  // command's file.
  if (tool === 'ScheduleWakeup' && /^\s*\//.test(textOf(input['prompt']) ?? ''))
    return 'would run a slash command later; describe the task in words, without "/" in front';
  const path = isMcpToolName(tool) ? undefined : PATHS.map((name) => input[name]).find(isOtherPath);
  return path === undefined
    ? null
    : `was given the path ${JSON.stringify(path)}, which Claude Code reads as another one; write it from the root, without "~" and without blanks around it`;
}

/** The arguments of Claude Code's tools that are paths. */
const PATHS = ['file_path', 'notebook_path', 'path'];

/** True for a path that Claude Code changes before it uses it: `~`, blanks around it, Unicode that is not NFC. */
const isOtherPath = (path: Json | undefined): boolean =>
  typeof path === 'string' &&
  (isHomePath(path) || path !== path.trim().normalize('NFC') || /\s$/.test(normalize(path)));

/** Splits an absolute pattern as Claude Code does: it searches the folder before the first wildcard, not `path`. */
function inFolderOfPattern(input: ClaudeToolEvent['input']): Fields {
  const pattern = textOf(input['pattern']) ?? '';
  if (!isAbsolute(pattern)) return input;
  const end = pattern.slice(0, pattern.search(/[*?[{]|$/)).lastIndexOf('/');
  return { ...input, path: pattern.slice(0, end) || '/', pattern: pattern.slice(end + 1) };
}

/** Removes an offset of 0: Claude Code reads line 0 as the first line. */
function fromFirstLine(input: ClaudeToolEvent['input']): Fields {
  const { offset, ...rest } = input;
  return offset === undefined || offset === 0 ? rest : { ...rest, offset };
}
