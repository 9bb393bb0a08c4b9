import type { Denial } from '../../gate/denial.ts';
import type { Json } from '../../spec/types.ts';
import { CONTROLS } from '../core/agent-session.ts';
import { HEARD, remember, type Seated } from './seated.ts';
import { isActing } from './silence.ts';
import type { ToolEvent } from './event.ts';
import { ownName } from './names.ts';
import type { Reply } from './reply.ts';
import { type ToolUse, toolUse } from './tool-use.ts';
import { denialText } from './words.ts';

type Call = { readonly tool: string; readonly args: { readonly [name: string]: Json } };

/** Longest time that the client lets a foreground command run, in seconds. */
const LONGEST_COMMAND = 600;

/** PreToolUse: decides every call, whatever tool it is of. */
export async function preToolUse(at: Seated<ToolEvent>): Promise<Reply> {
  const use = await at.desk.use(at.seat, async (session) => toolUse(at.event, session));
  const { reply, acts } = await decideUse(at, use);
  await remember(at, reply.kind !== 'allow' ? HEARD.denied : acts ? HEARD.acting : HEARD.allowed);
  return reply;
}

interface Decided {
  readonly reply: Reply;
  /** The client runs it by itself, and it changes something. */
  readonly acts: boolean;
}

const allow = (input?: { readonly [name: string]: Json }): Decided => ({
  reply: { kind: 'allow', ...(input ? { input } : {}) },
  acts: false,
});
const deny = (why: string): Decided => ({ reply: { kind: 'deny', why }, acts: false });

async function decideUse(at: Seated<ToolEvent>, use: ToolUse): Promise<Decided> {
  switch (use.kind) {
    case 'native':
      return native(at, use);
    case 'shell':
      return shell(at, use);
    case 'through-hopgate':
      return throughHopgate(at, use);
    case 'own':
      return own(at, use.tool);
    case 'inner':
      return allow();
    case 'unknown':
      return unknown(at, use.why);
    default:
      return use satisfies never;
  }
}

const isSubAgent = ({ event }: Seated): boolean => event.agentId !== null;
const refused = (at: Seated, denial: Denial): Decided => deny(denialText(denial, isSubAgent(at)));

/** The client's own Read, Edit, …: decided, the intent written down, and then left to the client. */
async function native(at: Seated<ToolEvent>, call: Call): Promise<Decided> {
  const { desk, seat, event } = at;
  const above = await refusedAbove(at, call);
  if (above) return refused(at, above);
  const admitted = await desk.use(seat, (session) => session.admit(call));
  if (!admitted.ok) return refused(at, admitted.denial);
  await desk.keep(seat, event.toolUseId, admitted.ticket as unknown as Json);
  return { reply: { kind: 'allow' }, acts: admitted.ticket.intent !== null };
}

/** A shell command: what the client runs in its place is one that runs it contained, in the session. */
async function shell(at: Seated<ToolEvent>, { tool, args }: Call): Promise<Decided> {
  const call = { tool, args: args as unknown as Json };
  const denial = await dryRun(at, { tool, args });
  if (denial) return refused(at, denial);
  const { desk, seat, event } = at;
  const seconds = await desk.use(seat, async (session) => session.tool(tool)?.limits.seconds ?? LONGEST_COMMAND);
  const command = await desk.runner(seat, call);
  const timeout = Math.min(LONGEST_COMMAND, seconds + 20) * 1000;
  return allow({ command, description: event.input['description'] ?? 'Run in hopgate', timeout });
}

/** A tool of the client whose work only hopgate's own does here. */
async function throughHopgate(at: Seated<ToolEvent>, call: Call): Promise<Decided> {
  const denial = await dryRun(at, call);
  if (denial) return refused(at, denial);
  return deny(
    `hopgate: ${at.event.tool} does not run here by itself.\nWhat to do: call ${ownName(call.tool)} with ${JSON.stringify(call.args)}.`,
  );
}

/** A tool of hopgate's MCP server: that decides it again. A sub-agent shares its parent's server, so that its own envelope is asked here. */
async function own(at: Seated<ToolEvent>, tool: string): Promise<Decided> {
  if (!isSubAgent(at)) return allow();
  if (tool === 'hop' || tool === 'mode')
    return deny(
      `hopgate: a sub-agent can neither hop nor change the mode (${tool}).\nWhat to do: stay within this envelope, and report to the agent that started you what else is needed.`,
    );
  if ((CONTROLS as readonly string[]).includes(tool)) return allow();
  const denial = await dryRun(at, { tool, args: at.event.input });
  return denial ? refused(at, denial) : allow();
}

/** A tool that hopgate has never heard of. */
async function unknown(at: Seated<ToolEvent>, why: string | null): Promise<Decided> {
  const denial = await dryRun(at, { tool: at.event.tool, args: at.event.input });
  if (denial) return refused(at, denial);
  return deny(
    `hopgate: ${at.event.tool} is outside of every peripheral${why === null ? '' : `: ${why}`}.\nWhat to do: use the tools of this peripheral; ${ownName('status')} lists them.`,
  );
}

/** What the parent's envelope, as it is now, says of a sub-agent's call. Its refusal is recorded in the parent's session. */
async function refusedAbove({ desk, seat }: Seated, call: Call): Promise<Denial | null> {
  if (seat.parent === null) return null;
  const parent = await desk.seat({ ...seat.conversation, agentId: null });
  return desk.useParent(seat, async (session) => {
    const denial = session.why(call);
    // While the parent itself acts, an entry in its session would break that call off.
    if (denial !== null && !isActing(parent)) await session.admit(call);
    return denial;
  });
}

/** Decides a call that does not run under this event; a refusal is recorded. */
async function dryRun(at: Seated, call: Call): Promise<Denial | null> {
  const { desk, seat } = at;
  const above = await refusedAbove(at, call);
  if (above) return above;
  return desk.use(seat, async (session) => {
    if (session.why(call) === null) return null;
    const judged = await session.admit(call); // refused as the dry run was, and written down
    return judged.ok ? null : judged.denial;
  });
}
