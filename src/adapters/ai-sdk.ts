import {
  gateway,
  type Instructions,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  NoSuchToolError,
  type ToolApprovalStatus,
  type ToolCallRepairFunction,
  type ToolExecutionOptions,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from 'ai';
import { parseJson } from '../base/json.ts';
import { findApprovedRequest, findRefusedCalls, readRequestHash } from './ai-sdk/approval-messages.ts';
import { adviseToRepeatCall } from './core/advise-repeat.ts';
import {
  type AgentAnswer,
  type AgentCall,
  type AgentSession,
  type AgentTool,
  assertAgentSession,
} from './core/agent-session.ts';
import { renderApprovalQuestion } from './core/approval-question.ts';

export type { AgentAnswer, AgentSession } from './core/agent-session.ts';
export { agentSession } from './core/local-agent-session.ts';

/** Settings for `ToolLoopAgent`, `generateText` and `streamText`, as {@link aiSdk} returns them. */
export interface AiSdkSettings {
  /** Every tool of the spec set and the controls. Each call is decided when it runs, in the order of the step. */
  readonly tools: ToolSet;
  /** Shows the model the tools available now, and describes its situation. */
  readonly prepareStep: (options: {
    readonly model: LanguageModel;
    readonly stepNumber: number;
    readonly initialMessages: readonly ModelMessage[];
    readonly initialInstructions: Instructions | undefined;
  }) => Promise<{ model: LanguageModel; instructions: Instructions }>;
  /** Asks a person for the approvals. Leave it out if the session has its own approver. */
  readonly toolApproval: {
    readonly [tool: string]: (input: unknown, options: { readonly toolCallId: string }) => Promise<ToolApprovalStatus>;
  };
  /** The session's situation now; `prepareStep` keeps it up to date. */
  readonly instructions: string;
  /** Answers invalid calls: unknown tools, and arguments that are not JSON. */
  readonly repairToolCall: ToolCallRepairFunction<ToolSet>;
  /** The calls of a step run one after the other, because a hop changes the tools for the later ones. */
  readonly toolCallConcurrency: 1;
}

/**
 * Puts an agent of the AI SDK into a session: its tools are the session's tools, and after each hop the model sees the
 * tools that are available then.
 *
 * A refusal is a tool result that the model reads as an error, with its remedy. An error that the session throws ends
 * the run.
 * @throws TypeError if `session` is not an `agentSession(…)`
 * @param options.by the name recorded for approvals through `toolApproval`
 * @example
 * const agent = new ToolLoopAgent({ model, ...(await aiSdk(agentSession(session))) });
 */
export async function aiSdk(session: AgentSession, options: { readonly by?: string } = {}): Promise<AiSdkSettings> {
  assertAgentSession(session, 'aiSdk', options);
  const { by = 'operator' } = options;
  const catalogue = await session.allTools();
  // Leaves out new messages: the prompt of the first step contains them, and replaces these instructions.
  const firstPrompt = await session.prompt({ messages: false });
  const sessionTools = new Set(catalogue.map(({ name }) => name));
  let failure: { readonly error: unknown } | null = null;
  /** The ids of calls that needed no approval when their step began. */
  const withoutRequest = new Set<string>();

  const callSession = async (call: AgentCall): Promise<AgentAnswer> => {
    try {
      return await session.call(call);
    } catch (error) {
      failure = { error };
      throw error;
    }
  };

  const execute = async (
    name: string,
    input: unknown,
    options: ToolExecutionOptions<unknown>,
  ): Promise<AgentAnswer> => {
    const { abortSignal, messages, toolCallId } = options;
    const call = { name, input, ...(abortSignal ? { signal: abortSignal } : {}) };
    const request = findApprovedRequest(messages, toolCallId);
    if (!request)
      return withoutRequest.delete(toolCallId) ? adviseToRepeatCall(await callSession(call)) : callSession(call);
    const hash = readRequestHash(request.reason) ?? (await session.wants(call))?.hash;
    return callSession(hash === undefined ? call : { ...call, approved: { hash, by } });
  };

  const toolOf = ({ name, description, inputSchema }: AgentTool): ToolSet[string] =>
    tool({
      description,
      inputSchema: jsonSchema<unknown>(inputSchema as Parameters<typeof jsonSchema>[0]),
      execute: (input: unknown, options: ToolExecutionOptions<unknown>) => execute(name, input, options),
      toModelOutput: ({ output: { status, text } }: { output: AgentAnswer }) =>
        status === 'ok' ? { type: 'text', value: text } : { type: 'error-text', value: text },
    });

  return {
    tools: Object.fromEntries(catalogue.map((each) => [each.name, toolOf(each)])),
    toolCallConcurrency: 1,
    instructions: firstPrompt,
    async prepareStep({ model, stepNumber, initialMessages, initialInstructions }) {
      if (failure) {
        const { error } = failure;
        failure = null;
        throw error;
      }
      if (stepNumber === 0)
        for (const { toolName: name, input } of findRefusedCalls(initialMessages))
          if (sessionTools.has(name)) await session.call({ name, input, approved: null }); // Records the refusal; the SDK answers the call.
      const now = new Set((await session.tools()).map(({ name }) => name));
      return {
        model: showOnly(model, (name) => !sessionTools.has(name) || now.has(name)),
        instructions: withPrompt(initialInstructions, firstPrompt, await session.prompt()),
      };
    },
    toolApproval: Object.fromEntries(
      catalogue
        .filter(({ mayNeedApproval }) => mayNeedApproval)
        .map(({ name }) => [
          name,
          async (input: unknown, { toolCallId }: { readonly toolCallId: string }): Promise<ToolApprovalStatus> => {
            const request = await session.wants({ name, input });
            if (request) return { type: 'user-approval', reason: renderApprovalQuestion(request) };
            withoutRequest.add(toolCallId);
            return undefined;
          },
        ]),
    ),
    async repairToolCall({ toolCall: { toolName, input }, error }) {
      // The SDK answers calls of a session tool that the program hides (`activeTools`), and of the program's own tools.
      if (NoSuchToolError.isInstance(error) === sessionTools.has(toolName)) return null;
      // The SDK answers the call with this error, because a call without a tool or JSON arguments cannot be replaced.
      throw new Error((await callSession({ name: toolName, input: parseJson(input, input) })).text);
    },
  };
}

/**
 * Shows only these tools to the model. The SDK's own `activeTools` would answer the call of a hidden tool itself:
 * without the remedy, without evidence, and wrongly if an earlier call of the same step has just made the tool
 * available.
 */
function showOnly(model: LanguageModel, isShown: (name: string) => boolean): LanguageModel {
  const resolved =
    typeof model === 'string' ? (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) : model;
  return wrapLanguageModel({
    model: resolved as Parameters<typeof wrapLanguageModel>[0]['model'],
    middleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) =>
        params.tools ? { ...params, tools: params.tools.filter(({ name }) => isShown(name)) } : params,
    },
  });
}

/** The user's instructions, then the session's present prompt, which replaces the prompt of the first step. */
function withPrompt(initial: Instructions | undefined, atFirst: string, now: string): Instructions {
  if (initial === undefined) return now;
  if (typeof initial === 'string')
    return initial.includes(atFirst) ? initial.replace(atFirst, () => now) : `${initial}\n\n${now}`;
  return [...(Array.isArray(initial) ? initial : [initial]), { role: 'system', content: now }];
}
