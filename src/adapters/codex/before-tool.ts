import type { Denial } from '../../gate/denial.ts';
import type { NativeTicket } from '../../session/native-ticket.ts';
import type { Session } from '../../session/session.ts';
import type { Json } from '../../spec/types.ts';
import type { HookDesk, Seat } from '../core/hook-desk.ts';
import {
  type ActionStep,
  type ClientAction,
  toolCallToAction,
  type ToolCallOfOurs,
} from '../core/tool-call-to-action.ts';
import type { Env, ToolEvent } from './event.ts';
import { codexTool } from './tool-name.ts';
import { callOurs, describeRefusal, oneAtATime, readOnlyHere, subAgentStays, unknownHere } from './wording.ts';

/** null: it may run; else what the model is told. */
export type Verdict = string | null;

interface At {
  readonly event: ToolEvent;
  readonly desk: HookDesk;
  readonly seat: Seat;
  readonly env: Env;
}

/** Under which key the ticket of a call that runs is kept. */
export const ticketKey = (toolUseId: string): string => `native ${toolUseId}`;

/** Whether a tool call of Codex's may run. Everything that is not known to be harmless is put before the gate. */
export async function beforeTool(event: ToolEvent, desk: HookDesk, seat: Seat, env: Env): Promise<Verdict> {
  const at = { event, desk, seat, env };
  const action = await desk.use(seat, async (session) => actionOf(event, session));
  switch (action.kind) {
    case 'inner':
    case 'ask':
      return null;
    case 'hop':
    case 'mode':
      // A sub-agent's connection leads to the session of the agent that started it.
      return isSubAgent(at) ? subAgentStays(action.kind) : null;
    case 'unmapped':
      return unmapped(at, action.why);
    case 'steps':
      return aboutSteps(at, action.steps);
    default:
      return action satisfies never;
  }
}

function actionOf({ tool_name, tool_input: input, cwd }: ToolEvent, session: Session): ClientAction {
  const { specs, config, root, state } = session;
  const { peripheral, mode } = state;
  const { name, inner } = codexTool(tool_name, Object.keys(specs.tools));
  if (inner) return { kind: 'inner' };
  return toolCallToAction({ provider: 'codex', name, input }, { specs, config, root, cwd, peripheral, mode });
}

const isSubAgent = ({ seat }: At): boolean => seat.conversation.agentId !== null;

/** No scope says what it may touch. The attempt is recorded as one at a tool that nobody knows. */
async function unmapped({ event, desk, seat }: At, why: string | null): Promise<string> {
  const { tool_name: tool } = event;
  return desk.use(seat, async (session) => {
    const denial = session.why({ tool }) && (await refused(session, { tool, args: {} }));
    return why === null && denial ? describeRefusal(denial) : unknownHere(tool, why, session.available());
  });
}

async function aboutSteps(at: At, steps: readonly ActionStep[]): Promise<Verdict> {
  const [first, ...more] = steps;
  if (!first) return null;
  // The MCP server decides and records what the main agent calls there.
  if (first.how === 'ours' && !isSubAgent(at)) return null;
  // What is out of bounds is told first: how else to call it helps nobody then.
  for (const step of steps) {
    const denial = await dryRun(at, step);
    if (denial) return describeRefusal(denial);
  }
  if (first.how === 'ours') return null;
  if (first.how === 'native' && more.length === 0) return letRun(at, first);
  const ours = steps.every(({ byOurs }) => byOurs !== null) ? steps.flatMap(({ byOurs }) => byOurs ?? []) : [];
  return first.how === 'contained' && more.length === 0 ? callOurs(ours) : oneAtATime(ours);
}

/** What the gate says of a call that does not run under this event, here or above; a refusal here is recorded. */
async function dryRun({ desk, seat }: At, { tool, args }: ToolCallOfOurs): Promise<Denial | null> {
  const above = await desk.useParent(seat, async (parent) => parent.why({ tool, args }));
  if (above) return above;
  return desk.use(seat, async (session) =>
    session.why({ tool, args }) === null ? null : refused(session, { tool, args }),
  );
}

/** The gate's refusal as `admit` records it. null: it lets it through by now. */
async function refused(session: Session, call: ToolCallOfOurs): Promise<Denial | null> {
  const admitted = await session.admit(call);
  return admitted.ok ? null : admitted.denial;
}

/** A call that Codex runs itself: decided, its intent written down, and watched. */
async function letRun({ event, desk, seat, env }: At, { tool, args }: ActionStep): Promise<Verdict> {
  if (event.tool_name === 'apply_patch' && env['HOPGATE_CODEX_SANDBOX'] === 'read-only') return readOnlyHere(tool);
  const verdict = await desk.use(seat, async (session): Promise<NativeTicket | Denial> => {
    const admitted = await session.admit({ tool, args });
    return admitted.ok ? admitted.ticket : admitted.denial;
  });
  if ('code' in verdict) return describeRefusal(verdict);
  await desk.keep(seat, ticketKey(event.tool_use_id), verdict as unknown as Json);
  return null;
}
