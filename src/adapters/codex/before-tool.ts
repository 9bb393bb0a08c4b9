import { isAbsolute, relative, resolve } from 'node:path';
import type { Denial } from '../../gate/denial.ts';
import type { NativeTicket } from '../../session/native-step.ts';
import type { Session } from '../../session/session.ts';
import type { Json } from '../../spec/types.ts';
import { CONTROLS } from '../core/agent-session.ts';
import type { HookDesk, Seat } from '../core/hook-desk.ts';
import type { Env, ToolEvent } from './event.ts';
import { type PatchChange, parsePatch } from './patch.ts';
import {
  mcpName,
  describeRefusal,
  patchInReadOnly,
  patchNotRead,
  patchTooMuch,
  subAgentStays,
  useOurShell,
} from './wording.ts';

/** null: it may run; else what the model is told. */
export type Verdict = string | null;

/** A call of hopgate's, which a call of Codex's own comes down to. */
interface Call {
  readonly tool: string;
  readonly args: { readonly [name: string]: Json };
}

/** What starts, steers and awaits other agents, plans, or asks the person: it touches nothing, and what a sub-agent does is judged by itself. */
const COORDINATION: ReadonlySet<string> = new Set([
  'spawn_agent',
  'send_input',
  'send_message',
  'resume_agent',
  'wait_agent',
  'wait',
  'close_agent',
  'list_agents',
  'update_plan',
  'request_user_input',
  'tool_search',
  'get_goal',
  'create_goal',
  'update_goal',
]);

/** What moves a session. */
const MOVES: ReadonlySet<string> = new Set(['hop', 'mode']);

const MCP_PREFIX = mcpName('');

/** Under which key the ticket of a call that runs is kept. */
export const ticketKey = (toolUseId: string): string => `native ${toolUseId}`;

/** Whether a tool call of Codex's may run. Everything that is not known to be harmless is put before the gate. */
export async function beforeTool(event: ToolEvent, desk: HookDesk, seat: Seat, env: Env): Promise<Verdict> {
  const { tool_name: name, tool_input: input } = event;
  if (name.startsWith(MCP_PREFIX)) return aboutOurs(name.slice(MCP_PREFIX.length), input, desk, seat);
  if (COORDINATION.has(name)) return null;
  if (name === 'Bash') return desk.use(seat, (session) => aboutShell(session, textOf(input, 'command')));
  if (name === 'apply_patch') return aboutPatch(event, desk, seat, env);
  if (name === 'view_image')
    return letRun({ tool: 'read', args: { path: pathIn(event, textOf(input, 'path')) } }, event, desk, seat);
  return desk.use(seat, (session) => refusalOf(session, { tool: name, args: {} }));
}

/**
 * The MCP server decides it, and records it. A sub-agent's connection leads to the session of the agent that started it, so that its own envelope
 * is asked here, and it moves nobody.
 */
async function aboutOurs(tool: string, input: unknown, desk: HookDesk, seat: Seat): Promise<Verdict> {
  if (seat.conversation.agentId === null) return null;
  if (MOVES.has(tool)) return subAgentStays(tool);
  if ((CONTROLS as readonly string[]).includes(tool)) return null;
  const call = { tool, args: input as Call['args'] };
  return desk.use(seat, async (session) => (session.why(call) === null ? null : refusalOf(session, call)));
}

/** Codex's sandbox closes every socket, so hopgate's runner cannot work inside of it, and its own shell would read what the masks hide. */
async function aboutShell(session: Session, command: string): Promise<string> {
  const takesCommands = Object.values(session.specs.tools)
    .filter(({ parameters }) => parameters.some(({ role }) => role === 'command'))
    .map(({ id }) => id);
  const open = session.available().tools.filter((id) => takesCommands.includes(id));
  if (open.length > 0) return useOurShell(open);
  const shell = takesCommands.includes('bash') ? 'bash' : (takesCommands[0] ?? 'bash');
  return refusalOf(session, { tool: shell, args: { command } });
}

/** The gate's refusal, which `admit` records. */
async function refusalOf(session: Session, call: Call): Promise<string> {
  const admitted = await session.admit(call);
  if (admitted.ok) throw new Error(`${call.tool} was let through, although Codex has no such tool`);
  return describeRefusal(admitted.denial);
}

async function aboutPatch(event: ToolEvent, desk: HookDesk, seat: Seat, env: Env): Promise<Verdict> {
  const patch = parsePatch(textOf(event.tool_input, 'command'));
  if (!patch.ok) return patchNotRead(patch.line, patch.why);
  const calls = patch.changes.map((change) => callOf(change, event));
  // What is out of bounds is told first: there is no use in splitting a patch that is refused anyway.
  const denied = await desk.use(seat, async (session) => {
    const bad = calls.find((call) => typeof call !== 'string' && session.why(call) !== null);
    return bad && typeof bad !== 'string' ? refusalOf(session, bad) : null;
  });
  if (denied !== null) return denied;
  const [call, ...more] = calls;
  if (call === undefined || more.length > 0) return patchTooMuch(`touches ${calls.length} files`);
  if (typeof call === 'string') return patchTooMuch(call);
  if (env['HOPGATE_CODEX_SANDBOX'] === 'read-only') return patchInReadOnly(call.tool);
  return letRun(call, event, desk, seat);
}

/** The change as a call of hopgate's; as text: why it is none. */
function callOf(change: PatchChange, event: ToolEvent): Call | string {
  const path = pathIn(event, change.path);
  if (change.kind === 'add') return { tool: 'write', args: { path, content: change.content } };
  if (change.kind === 'delete') return 'deletes a file';
  if (change.moveTo !== null) return 'moves a file';
  const [hunk, ...more] = change.hunks;
  if (!hunk || more.length > 0) return `makes ${change.hunks.length} changes`;
  if (hunk.old === '') return 'adds lines without any that stand around them';
  return { tool: 'edit', args: { path, old: hunk.old, new: hunk.new } };
}

/** Patches and images name their files from the folder that Codex works in. */
function pathIn({ cwd }: ToolEvent, path: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}

async function letRun(call: Call, event: ToolEvent, desk: HookDesk, seat: Seat): Promise<Verdict> {
  const here = { ...call, args: { ...call.args, path: fromRoot(seat.conversation.root, String(call.args['path'])) } };
  const ofParent = await desk.useParent(seat, async (session): Promise<Denial | null> => session.why(here));
  if (ofParent) return describeRefusal(ofParent);
  const verdict = await desk.use(seat, async (session): Promise<NativeTicket | string> => {
    const admitted = await session.admit(here);
    return admitted.ok ? admitted.ticket : describeRefusal(admitted.denial);
  });
  if (typeof verdict === 'string') return verdict;
  await desk.keep(seat, ticketKey(event.tool_use_id), verdict as unknown as Json);
  return null;
}

function fromRoot(root: string, path: string): string {
  const inside = relative(root, path);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside;
}

function textOf(input: unknown, field: string): string {
  const value =
    input !== null && typeof input === 'object' ? (input as { [field: string]: unknown })[field] : undefined;
  if (typeof value === 'string') return value;
  throw new Error(`Codex sent a call without a text in "${field}"`);
}
