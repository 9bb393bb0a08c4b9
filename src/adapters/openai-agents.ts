import {
  type FunctionTool,
  type RunContext,
  type RunToolApprovalItem,
  type ToolErrorFormatter,
  tool,
} from '@openai/agents';
import { parseJson } from '../base/json.ts';
import type { ApprovalRequest } from '../ports/approver.ts';
import { type AgentCall, type AgentSession, type AgentTool, assertAgentSession } from './core/agent-session.ts';

export type { AgentAnswer, AgentSession } from './core/agent-session.ts';
export { agentSession } from './core/local-agent-session.ts';

export interface OpenAiAgentsOptions {
  /** The name of the person who answers interruptions of a run, for the record of approvals. Default: operator. */
  readonly by?: string;
  /** If true, a needed approval interrupts the run; otherwise the session's approver is asked. Default: true. */
  readonly interrupt?: boolean;
}

/** A session as the OpenAI Agents SDK uses it. */
export interface OpenAiAgents {
  /** The tools and controls for the SDK's `Agent`, enabled turn by turn. Each call is decided when it runs. */
  readonly tools: FunctionTool<unknown, never, string>[];
  /** The agent's situation as instructions for the SDK's `Agent`, updated each turn. */
  instructions(): Promise<string>;
  /** Options for the SDK's `run`: unavailable tools are refused with the remedy; calls of a turn run in order. */
  readonly options: {
    readonly toolNotFoundBehavior: 'return_error_to_model';
    readonly toolErrorFormatter: ToolErrorFormatter;
    readonly toolExecution: { readonly maxFunctionToolConcurrency: 1 };
  };
  /** The only request that an approval of the interruption covers; null if the gate would refuse it anyway. */
  wanted(interruption: RunToolApprovalItem): Promise<ApprovalRequest | null>;
}

/** The recorded arguments of a call without a matching tool, which the SDK does not report. */
const UNKNOWN_ARGUMENTS = '(the SDK does not pass on the arguments of a disabled tool)';

/** The tools that the agent of the current turn can call, and the answer to its other calls. */
interface Turn {
  readonly open: ReadonlySet<string>;
  missing(name: string, open: ReadonlySet<string>): Promise<string | undefined>;
}

/** The current turn of each run. The options of a run belong to one session; a handoff may lead to another session. */
const turns = new WeakMap<object, Turn>();

/**
 * Puts an agent of the OpenAI Agents SDK into a session. A refusal is a tool's output, with its remedy. An error
 * that the session throws ends the run.
 * @throws TypeError if `session` is not an `agentSession(…)`
 * @example
 * const hopgate = await openAiAgents(agentSession(session));
 * const agent = new Agent({ name: 'worker', model, tools: hopgate.tools, instructions: hopgate.instructions });
 * const result = await run(agent, 'Fix the bug.', hopgate.options);
 */
export async function openAiAgents(session: AgentSession, options: OpenAiAgentsOptions = {}): Promise<OpenAiAgents> {
  assertAgentSession(session, 'openAiAgents', options);
  const { by = 'operator', interrupt = true } = options;
  const pendingApprovals = new Map<string, { readonly call: AgentCall; readonly request: ApprovalRequest }>();
  /** The session's answers to the calls that a person refused, by call id. */
  const rejected = new Map<string, string>();
  let failure: { readonly error: unknown } | null = null;

  const ask = async (callId: string, call: AgentCall): Promise<ApprovalRequest | null> => {
    const request = await session.wants(call);
    if (request) pendingApprovals.set(callId, { call, request });
    return request;
  };

  /** Records a person's refusals. The SDK itself reports them only if no reason was given. */
  const recordRejections = async (run: RunContext<unknown>): Promise<void> => {
    for (const [callId, { call }] of pendingApprovals) {
      if (run.isToolApproved({ toolName: call.name, callId }) !== false) continue;
      pendingApprovals.delete(callId);
      rejected.set(callId, (await session.call({ ...call, approved: null })).text);
    }
  };

  const approvedCall = async (callId: string, call: AgentCall): Promise<AgentCall> => {
    const request = pendingApprovals.get(callId)?.request ?? (await session.wants(call));
    pendingApprovals.delete(callId);
    return request ? { ...call, approved: { hash: request.hash, by } } : call;
  };

  const toolOf = ({ name, description, inputSchema, mayNeedApproval }: AgentTool): OpenAiAgents['tools'][number] => ({
    ...tool({
      name,
      description,
      parameters: inputSchema as never,
      strict: false,
      errorFunction: null,
      async isEnabled({ runContext }) {
        await recordRejections(runContext);
        const open = new Set((await session.tools()).map((each) => each.name));
        turns.set(runContext, { open, missing: answerMissing });
        return open.has(name);
      },
      ...(interrupt && mayNeedApproval
        ? { needsApproval: async (_, input, callId) => (await ask(callId ?? '', { name, input })) !== null }
        : {}),
      async execute(input, context, details) {
        const { signal, toolCall } = details ?? {};
        const callId = toolCall?.callId ?? '';
        const call: AgentCall = { name, input, ...(signal ? { signal } : {}) };
        const approved = context?.isToolApproved({ toolName: name, callId }) === true;
        return (await session.call(approved ? await approvedCall(callId, call) : call)).text;
      },
    }),
    name, // `tool()` would replace - by _, and the prompt would name tools that the model does not have
  });

  /** Returns the text. The SDK's formatter must not throw, so an error is thrown when the next turn begins. */
  const textOrFailure = async (text: () => Promise<string | undefined>): Promise<string | undefined> => {
    try {
      return await text();
    } catch (error) {
      failure = { error };
      return undefined;
    }
  };

  /** Answers a call for which the SDK found no tool: the agent lacks it, or it was unavailable when the turn began. */
  const answerMissing: Turn['missing'] = (name, openBefore) =>
    textOrFailure(async () => {
      if (openBefore.has(name)) return undefined;
      if ((await session.tools()).some((open) => open.name === name))
        return `${name} was not available when this turn began; it is now. Repeat this call.`;
      return (await session.call({ name, input: UNKNOWN_ARGUMENTS })).text;
    });

  return {
    tools: (await session.allTools()).map(toolOf),
    async instructions() {
      if (failure) {
        const { error } = failure;
        failure = null;
        throw error;
      }
      return session.prompt();
    },
    options: {
      toolNotFoundBehavior: 'return_error_to_model',
      toolExecution: { maxFunctionToolConcurrency: 1 },
      toolErrorFormatter({ kind, toolName, callId, runContext }) {
        if (kind === 'tool_not_found') {
          const turn = turns.get(runContext);
          return turn ? turn.missing(toolName, turn.open) : answerMissing(toolName, new Set());
        }
        return textOrFailure(async () => {
          await recordRejections(runContext);
          return rejected.get(callId);
        });
      },
    },
    async wanted({ rawItem }) {
      if (rawItem.type !== 'function_call') return null;
      // The SDK interrupts without asking the tool if the arguments are not a JSON object.
      const input = parseJson(rawItem.arguments, null);
      return input === null ? null : ask(rawItem.callId, { name: rawItem.name, input });
    },
  };
}
