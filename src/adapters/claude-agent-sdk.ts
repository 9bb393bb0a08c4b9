import type {
  HookCallback,
  HookCallbackMatcher,
  McpSdkServerConfigWithInstance,
  Options,
  SyncHookJSONOutput,
} from '@anthropic-ai/claude-agent-sdk';
import type { Transport } from '@modelcontextprotocol/server';
import manifest from '../../package.json' with { type: 'json' };
import { type AgentSession, assertAgentSession } from './core/agent-session.ts';
import { type Ask, askPerson } from './core/approval-question.ts';
import { McpHost } from './mcp/mcp-host.ts';
import { serveOverTransport } from './mcp/serve-stdio.ts';

export type { AgentSession } from './core/agent-session.ts';
export { agentSession } from './core/local-agent-session.ts';

export interface ClaudeAgentOptions {
  /** Answers an approval request: true or the person's name approves it. Default: the session's own approver. */
  readonly approve?: Ask;
  /** Instructions that come before the session's own. */
  readonly append?: string;
  /** Called with an error that the session threw. The run then ends; the SDK itself throws nothing. */
  readonly onError?: (error: unknown) => void;
}

/** The result of {@link claudeAgentOptions}, to be spread into the `options` of `query`. */
export type GatedOptions = Required<
  Pick<Options, 'tools' | 'mcpServers' | 'strictMcpConfig' | 'settingSources' | 'hooks' | 'canUseTool' | 'systemPrompt'>
>;

/** The name of the MCP server; Claude Code calls its tools `mcp__hopgate__read` and so on. */
const SERVER = 'hopgate';
const OURS = `mcp__${SERVER}__`;
/** The tool by which Claude Code answers in the form of the option `outputFormat`; it has no effect on the world. */
const ANSWER = 'StructuredOutput';

/**
 * Options that put an agent of the Claude Agent SDK into a session: none of the program's own tools, none of its
 * settings files, the session's tools from a server in this process, and hooks that refuse every other call, with the
 * remedy. A hook that fails blocks the call. An error that the session throws ends the run.
 * @throws TypeError if `session` is not an `agentSession(…)`
 * @example
 * const options = await claudeAgentOptions(agentSession(session), { onError: console.error });
 * for await (const message of query({ prompt: 'Fix it.', options: { ...options, cwd: '.' } })) console.log(message);
 */
export async function claudeAgentOptions(
  session: AgentSession,
  options: ClaudeAgentOptions = {},
): Promise<GatedOptions> {
  assertAgentSession(session, 'claudeAgentOptions', options);
  const { approve, append, onError } = options;
  const errors: unknown[] = [];
  const guarded = withQuestions(session, approve, (error) => {
    errors.push(error);
    onError?.(error);
  });
  const host = new McpHost({ session: guarded, version: manifest.version, elicit: false });
  const refusal = async (name: string, input: unknown, source = 'sdk'): Promise<string | null> =>
    name === ANSWER || (name.startsWith(OURS) && source === 'sdk') ? null : (await guarded.call({ name, input })).text;

  // This text is part of every request, so it has no new messages; they come with the first prompt.
  const firstPrompt = await session.prompt({ messages: false });
  let lastPrompt = firstPrompt;
  const describeChange: HookCallback = async (input) => {
    const { hook_event_name: hookEventName } = input;
    if (hookEventName !== 'SessionStart' && hookEventName !== 'UserPromptSubmit') return {};
    const now = await session.prompt();
    const isForgotten = hookEventName === 'SessionStart' && input.source !== 'startup';
    const before = hookEventName === 'SessionStart' ? firstPrompt : lastPrompt;
    lastPrompt = now;
    return now === before && !isForgotten ? {} : { hookSpecificOutput: { hookEventName, additionalContext: now } };
  };
  const decide: HookCallback = async (input) => {
    if (input.hook_event_name !== 'PreToolUse') return {};
    const reason = await refusal(input.tool_name, input.tool_input, input.mcp_server?.source);
    const decision =
      reason === null
        ? ({ permissionDecision: 'allow' } as const) // hopgate's MCP server decides the call
        : ({ permissionDecision: 'deny', permissionDecisionReason: reason } as const);
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } };
  };
  const endAfterError: HookCallback = async (): Promise<SyncHookJSONOutput> => {
    const [error] = errors.splice(0);
    return error === undefined ? {} : { continue: false, stopReason: `hopgate: ${error}` };
  };

  return {
    tools: [],
    settingSources: [],
    strictMcpConfig: true,
    mcpServers: { [SERVER]: inProcess(host) },
    hooks: {
      SessionStart: hookMatchers(describeChange),
      UserPromptSubmit: hookMatchers(describeChange),
      PreToolUse: hookMatchers(decide),
      PostToolBatch: hookMatchers(endAfterError),
    },
    async canUseTool(name, input, { mcpServer }) {
      const message = await refusal(name, input, mcpServer?.source);
      return message === null ? { behavior: 'allow', updatedInput: input } : { behavior: 'deny', message };
    },
    systemPrompt: {
      type: 'preset',
      preset: 'claude_code',
      append: [...(append === undefined ? [] : [append]), firstPrompt].join('\n\n'),
    },
  };
}

const hookMatchers = (hook: HookCallback): HookCallbackMatcher[] => [{ hooks: [hook], onFailure: 'block' }];

/** Serves each connection separately, so that the options can be used for several queries. */
function inProcess(host: McpHost): McpSdkServerConfigWithInstance {
  const instance = { connect: async (transport: Transport) => void serveOverTransport(host, transport) };
  return { type: 'sdk', name: SERVER, instance: instance as McpSdkServerConfigWithInstance['instance'] };
}

/** Wraps the session so that a person is asked before a call that needs an approval, and errors are reported. */
function withQuestions(
  session: AgentSession,
  approve: ClaudeAgentOptions['approve'],
  onError: (error: unknown) => void,
): AgentSession {
  return {
    ...session,
    async call(call) {
      try {
        const request = approve ? await session.wants(call) : null;
        if (!approve || !request) return await session.call(call);
        return await session.call({ ...call, approved: await askPerson(approve, request) });
      } catch (error) {
        onError(error);
        throw error;
      }
    },
  };
}
