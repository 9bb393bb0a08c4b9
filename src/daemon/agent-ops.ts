import type { AgentAnswer, AgentCall, AgentSession } from '../adapters/core/agent-session.ts';
import { agentSession } from '../adapters/core/local.ts';
import type { Session } from '../session/session.ts';
import type { Caller, Host } from './host.ts';

/** One call of an {@link AgentSession}, as it goes over the socket. */
export type AgentOp =
  | { readonly op: 'attach'; readonly root: string; readonly agent: string }
  | ({ readonly root: string; readonly session: string } & (
      | { readonly op: 'tools' | 'allTools' | 'status' | 'prompt' }
      | { readonly op: 'call' | 'wants'; readonly call: Omit<AgentCall, 'signal'> }
    ));

/** What it came to. A fault of ours is told as such; what the agent did is in `value`. */
export type AgentOpAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string };

/** How long a call waits for a session that is at work, in milliseconds. */
const WAIT_MS = 60_000;

/** Carries out one call for a program in another process. Never throws. */
export async function carryOutAgentOp(
  host: Host,
  caller: Caller,
  op: AgentOp,
  signal: AbortSignal,
): Promise<AgentOpAnswer> {
  try {
    if (op.op === 'attach') return { ok: true, value: await host.attach(op.root, op.agent, caller) };
    const work = async (session: Session) => ({
      ok: true as const,
      value: await ask(agentSession(session), op, signal),
    });
    if (op.op === 'call') return await host.useSession(op.root, op.session, op.call.name, work, WAIT_MS);
    return await host.join(op.root, op.session, work);
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) };
  }
}

function ask(
  session: AgentSession,
  op: Exclude<AgentOp, { readonly op: 'attach' }>,
  signal: AbortSignal,
): Promise<AgentAnswer | unknown> {
  switch (op.op) {
    case 'call':
      return session.call({ ...op.call, signal });
    case 'wants':
      return session.wants(op.call);
    case 'tools':
    case 'allTools':
    case 'status':
    case 'prompt':
      return session[op.op]();
    default:
      return op satisfies never;
  }
}
