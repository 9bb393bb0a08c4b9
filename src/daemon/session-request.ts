import { randomUUID } from 'node:crypto';
import type { AgentAnswer, AgentCall, AgentTool } from '../adapters/core/agent-session.ts';
import { listSubAgentTools } from '../adapters/core/agent-tools.ts';
import { agentSession, toDenialAnswer } from '../adapters/core/local-agent-session.ts';
import {
  deliveredMessageItem,
  isSituationReport,
  sessionOpenedItem,
  toolAnswerItem,
  toolCallItem,
  toolErrorItem,
  transcriptSituation,
} from '../adapters/core/transcript/transcript-items.ts';
import { fieldsOf } from '../base/json.ts';
import { errorText } from '../base/text.ts';
import { toPlainJson } from '../session/convert-input.ts';
import type { Session } from '../session/session.ts';
import type { CallingProcess } from './conversations/session-host-options.ts';
import type { SessionHost } from './session-host.ts';
import { writeNote } from './write-note.ts';

/** One request about an agent's session, in the form that is sent over the daemon's socket. */
export type SessionRequest =
  | { readonly op: 'attach'; readonly root: string; readonly agent: string }
  | ({ readonly root: string; readonly session: string } & (
      | { readonly op: 'tools' | 'allTools' | 'status' | 'prompt' }
      | { readonly op: 'call'; readonly call: Omit<AgentCall, 'signal'> }
      | { readonly op: 'wants'; readonly call: Omit<AgentCall, 'signal'> }
      | { readonly op: 'note'; readonly text: string }
      | ({ readonly op: 'hop' } & OperatorHop)
    ));

interface OperatorHop {
  readonly to: string;
  readonly exit?: string;
  readonly reason: string;
  /** The operator's token of the repository. */
  readonly token: string;
}

/** The answer to a request. `ok: false` is an internal error; `cause` has its fields that a remedy depends on. */
export type SessionRequestAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string; readonly cause: { readonly code?: unknown; readonly path?: unknown } };

/** How long a call waits for a busy session, in milliseconds. */
const WAIT_MS = 60_000;

/** Carries out one request of another process. Never throws. */
export async function carryOutSessionRequest(
  host: SessionHost,
  caller: CallingProcess,
  op: SessionRequest,
  signal: AbortSignal,
): Promise<SessionRequestAnswer> {
  try {
    if (op.op === 'attach') {
      const id = await host.conversations.attach(op.root, op.agent, caller);
      host.transcriptOf(op.root, id).add(sessionOpenedItem(id, 'mcp'));
      return { ok: true, value: id };
    }
    if (op.op === 'note') {
      await writeNote(host, op);
      return { ok: true, value: null };
    }
    if (op.op === 'hop') {
      const { root, session, token, op: _, ...hop } = op;
      if (!host.isOperator(root, token)) throw new Error("this is not the operator's token of the repository");
      const work = (at: Session) => at.hop({ ...hop, by: 'operator' });
      return { ok: true, value: await host.sessions.use(root, session, 'a hop by the operator', work, WAIT_MS) };
    }
    if (op.op === 'call') return { ok: true, value: await carryOutCall(host, op, signal) };
    const value = await host.sessions.join(op.root, op.session, async (session) => {
      const answer = await answerQuery(session, op);
      recordAnswer(host, op, session, answer);
      return answer;
    });
    return { ok: true, value };
  } catch (error) {
    const { code, path } = error as { readonly code?: unknown; readonly path?: unknown };
    return { ok: false, why: errorText(error), cause: { code, path } };
  }
}

type Call = Extract<SessionRequest, { readonly op: 'call' }>;
type StateQuery = Exclude<SessionRequest, Call | { readonly op: 'attach' | 'note' | 'hop' }>;

/** Runs a call of the agent in its session and records it in the transcript. */
async function carryOutCall(
  host: SessionHost,
  { root, session, call }: Call,
  signal: AbortSignal,
): Promise<AgentAnswer> {
  const own = { tool: call.name, args: toPlainJson(call.input ?? {}) };
  const worksIn = await host.sessionOfCall(root, session, own);
  const transcript = host.transcriptOf(root, worksIn);
  const id = call.callId ?? randomUUID();
  transcript.add(toolCallItem({ id, tool: call.name, input: call.input }));
  try {
    const asked = call.name === 'why' ? fieldsOf(own.args) : null;
    const judged = asked ? { tool: asked['tool'] as string, args: asked['args'] ?? {} } : own;
    const isFree = worksIn === session || call.name === 'status';
    const above = isFree ? null : await host.denialByParent(root, worksIn, judged);
    return await host.sessions.use(
      root,
      worksIn,
      call.name,
      async (at) => {
        if (above && !asked) await at.admit({ ...own, above });
        const answer = above
          ? { ...toDenialAnswer(at, above), ...(asked && { status: 'ok' as const }), toolsChanged: false }
          : await host.inTrace(call.trace, () => agentSession(at).call({ ...call, signal }));
        transcript.add(
          toolAnswerItem(id, answer, isSituationReport(call.name, answer) ? transcriptSituation(at) : null),
        );
        return answer;
      },
      WAIT_MS,
    );
  } catch (error) {
    transcript.add(toolErrorItem(id, error));
    throw error;
  }
}

/** Records in the transcript the text that the client received for the agent. */
function recordAnswer(
  host: SessionHost,
  { op, root, session: id }: StateQuery,
  session: Session,
  answer: unknown,
): void {
  if (op === 'tools') host.transcriptOf(root, id).offers((answer as readonly AgentTool[]).map(({ name }) => name));
  if (op === 'prompt')
    host
      .transcriptOf(root, id)
      .add(deliveredMessageItem(answer as string, transcriptSituation(session), 'instructions'));
}

async function answerQuery(session: Session, op: StateQuery): Promise<unknown> {
  const agent = agentSession(session);
  switch (op.op) {
    case 'wants':
      return agent.wants(op.call);
    case 'tools':
      return [...(await agent.tools()), ...listSubAgentTools(session)];
    case 'allTools':
    case 'status':
    case 'prompt':
      return agent[op.op]();
    default:
      return op satisfies never;
  }
}
