import type { Denial } from '../../gate/denial.ts';
import type { Json } from '../../spec/types.ts';
import type { ActionStep, ClientAction, ToolCallOfOurs as Call } from '../core/tool-call-to-action.ts';
import { actionOf } from './action-of.ts';
import type { ToolEvent } from './event.ts';
import type { Reply } from './reply.ts';
import { HEARD, remember, type Seated } from './seated.ts';
import { keepCall } from './kept-call.ts';
import { isActing } from './silence.ts';
import { callOursInstead, denialText, outsideText, subAgentStays } from './words.ts';

/** Longest time that the client lets a foreground command run, in seconds. */
const LONGEST_COMMAND = 600;

/** PreToolUse: decides every call, whatever tool it is of. */
export async function preToolUse(at: Seated<ToolEvent>): Promise<Reply> {
  const action = await at.desk.use(at.seat, async (session) => actionOf(at.event, session));
  const { reply, acts } = await decideAction(at, action);
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

async function decideAction(at: Seated<ToolEvent>, action: ClientAction): Promise<Decided> {
  switch (action.kind) {
    case 'steps': {
      const [step, ...more] = action.steps;
      if (!step || more.length > 0) return unmapped(at, 'comes down to several calls; make them one by one');
      return decideStep(at, step);
    }
    case 'hop':
    case 'mode':
      return isSubAgent(at) ? deny(subAgentStays(action.kind)) : allow();
    case 'ask':
    case 'inner':
      return allow();
    case 'unmapped':
      return unmapped(at, action.why);
    default:
      return action satisfies never;
  }
}

function decideStep(at: Seated<ToolEvent>, step: ActionStep): Promise<Decided> {
  switch (step.how) {
    case 'native':
      return native(at, step);
    case 'contained':
      return at.event.tool === 'Bash' ? shell(at, step) : throughHopgate(at, step);
    case 'ours':
      return own(at, step);
    default:
      return step.how satisfies never;
  }
}

const isSubAgent = ({ event }: Seated): boolean => event.agentId !== null;
const refused = (at: Seated, denial: Denial): Decided => deny(denialText(denial, isSubAgent(at)));

/** The client's own Read, Edit, …: decided, the intent written down, and then left to the client. */
async function native(at: Seated<ToolEvent>, { tool, args }: Call): Promise<Decided> {
  const call = { tool, args };
  const { desk, seat, event } = at;
  const denial = isSubAgent(at) ? await dryRun(at, call) : null;
  if (denial) return refused(at, denial);
  const admitted = await desk.use(seat, (session) => session.admit(call));
  if (!admitted.ok) return refused(at, admitted.denial);
  await keepCall(at, { ticket: admitted.ticket, input: event.input });
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
  const input = { command, description: event.input['description'] ?? 'Run in hopgate', timeout };
  await keepCall(at, { ticket: null, input });
  return allow(input);
}

/** A tool of the client whose work only hopgate's own does here. */
async function throughHopgate(at: Seated<ToolEvent>, call: Call): Promise<Decided> {
  const denial = await dryRun(at, call);
  if (denial) return refused(at, denial);
  return deny(callOursInstead(at.event.tool, call));
}

/** A tool of hopgate's MCP server: that decides it again. A sub-agent shares its parent's server, so that its own envelope is asked here. */
async function own(at: Seated<ToolEvent>, call: Call): Promise<Decided> {
  const denial = isSubAgent(at) ? await dryRun(at, call) : null;
  return denial ? refused(at, denial) : allow();
}

/** A tool that reaches where no spec says what it may touch. */
async function unmapped(at: Seated<ToolEvent>, why: string | null): Promise<Decided> {
  const { tool, input } = at.event;
  const denial = await dryRun(at, { tool, args: input });
  if (why === null && denial) return refused(at, denial);
  return deny(outsideText(tool, why));
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

/** Decides a call without letting it run: by the session's own envelope, then by the parent's. A refusal is recorded. */
async function dryRun(at: Seated, { tool, args }: Call): Promise<Denial | null> {
  const call = { tool, args };
  const denial = await at.desk.use(at.seat, async (session) => {
    if (session.why(call) === null) return null;
    const judged = await session.admit(call); // refused as the dry run was, and written down
    return judged.ok ? null : judged.denial;
  });
  return denial ?? refusedAbove(at, call);
}
