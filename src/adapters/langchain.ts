import { type AgentMiddleware, AIMessage, createMiddleware, ToolMessage, tool } from 'langchain';
import { z } from 'zod';
import type { ApprovalRequest } from '../ports/approver.ts';
import { adviseToRepeatCall } from './core/advise-repeat.ts';
import { type AgentAnswer, type AgentCall, type AgentSession, assertAgentSession } from './core/agent-session.ts';
import { renderApprovalQuestion } from './core/approval-question.ts';

export type { AgentAnswer, AgentSession } from './core/agent-session.ts';
export { agentSession } from './core/local-agent-session.ts';

export interface LangChainOptions {
  /** The name recorded for approvals through interrupts. Default: operator. */
  readonly by?: string;
  /** Requests approvals by interrupts, which need a checkpointer; else from the session's approver. Default: true. */
  readonly interrupt?: boolean;
}

/** The value of an interrupt: LangChain's own human-in-the-loop shape, and the full approval request. */
export interface ApprovalInterrupt {
  readonly actionRequests: readonly [{ readonly name: string; readonly args: unknown; readonly description: string }];
  readonly reviewConfigs: readonly [{ readonly actionName: string; readonly allowedDecisions: ['approve', 'reject'] }];
  readonly approval: ApprovalRequest;
}

/** Resumes the graph: `new Command({ resume: { decisions: [{ type: 'approve' }] } })`. Any other value refuses. */
export interface ApprovalResume {
  readonly decisions: readonly [{ readonly type: 'approve' | 'reject' }];
}

/**
 * The approval that a call of the newest message needs, by call id. It is stored so that an answer approves the request
 * that the person saw. There is at most one, because LangGraph applies an answer without an id to all interrupts of a
 * turn.
 */
const State = z.object({ hopgateWanted: z.record(z.string(), z.custom<ApprovalRequest>()).default({}) });

/**
 * Middleware that puts a LangChain agent into a session: it adds the tools, shows the model those available now,
 * describes its situation, and decides every call. A refusal is a tool message with status `error` and the remedy.
 * An error that the session throws ends the run.
 * @throws TypeError if `session` is not an `agentSession(…)`
 * @example
 * const agent = createAgent({ model, middleware: [await langChain(agentSession(session))], checkpointer });
 */
export async function langChain(session: AgentSession, options: LangChainOptions = {}): Promise<AgentMiddleware> {
  assertAgentSession(session, 'langChain', options);
  const { by = 'operator', interrupt = true } = options;
  const catalogue = await session.allTools();
  const sessionTools = new Set<unknown>(catalogue.map(({ name }) => name));

  return createMiddleware({
    name: 'hopgate',
    stateSchema: State,
    tools: catalogue.map(({ name, description, inputSchema }) =>
      tool(async (input: unknown) => (await session.call({ name, input })).text, {
        name,
        description,
        schema: { ...inputSchema },
      }),
    ),
    async wrapModelCall(request, handler) {
      const now = new Set<unknown>((await session.tools()).map(({ name }) => name));
      const { systemMessage, tools } = request;
      const answer = await handler({
        ...request,
        tools: tools.filter(({ name }) => !sessionTools.has(name) || now.has(name)),
        systemMessage: systemMessage.concat(`${systemMessage.text === '' ? '' : '\n\n'}${await session.prompt()}`),
      });
      return AIMessage.isInstance(answer) ? withUnreadCalls(answer) : answer;
    },
    async afterModel({ messages }) {
      const calls = (interrupt && (messages.at(-1) as { tool_calls?: ToolCall[] } | undefined)?.tool_calls) || [];
      for (const { id, name, args } of calls) {
        const request = await session.wants({ name, input: args });
        if (request && id !== undefined) return { hopgateWanted: { [id]: request } };
      }
      return { hopgateWanted: {} };
    },
    async wrapToolCall(request, handler) {
      const { toolCall, runtime, state } = request;
      const { name, args, id = '' } = toolCall;
      if (request.tool && !sessionTools.has(name)) return handler(request);
      const call: AgentCall = { name, input: args, ...(runtime.signal ? { signal: runtime.signal } : {}) };
      const approval = state.hopgateWanted[id];
      if (!approval) {
        const answer = await session.call(call);
        return toolMessage(toolCall, interrupt ? adviseToRepeatCall(answer) : answer);
      }
      const decision = runtime.interrupt?.(approvalInterrupt(toolCall, approval));
      const approved = approves(decision) ? { hash: approval.hash, by } : null;
      return toolMessage(toolCall, await session.call({ ...call, approved }));
    },
  });
}

interface ToolCall {
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** LangChain drops calls whose arguments are not JSON. Restores them, so that the session refuses them. */
function withUnreadCalls(answer: AIMessage): AIMessage {
  const unread = answer.invalid_tool_calls ?? [];
  const calls = unread.map(({ id, name = '', args }) => ({
    id,
    name,
    args: args as never,
    type: 'tool_call' as const,
  }));
  answer.tool_calls = [...(answer.tool_calls ?? []), ...calls];
  answer.invalid_tool_calls = [];
  return answer;
}

const toolMessage = ({ id = '', name }: ToolCall, answer: AgentAnswer): ToolMessage =>
  new ToolMessage({
    content: answer.text,
    tool_call_id: id,
    name,
    status: answer.status === 'ok' ? 'success' : 'error',
    artifact: answer,
  });

const approvalInterrupt = ({ name, args }: ToolCall, approval: ApprovalRequest): ApprovalInterrupt => ({
  actionRequests: [{ name, args, description: renderApprovalQuestion(approval) }],
  reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'reject'] }],
  approval,
});

const approves = (resume: unknown): boolean =>
  (resume as Partial<ApprovalResume> | undefined)?.decisions?.[0]?.type === 'approve';
