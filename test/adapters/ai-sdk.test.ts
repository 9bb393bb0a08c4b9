import { isStepCount, type ModelMessage, ToolLoopAgent } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { aiSdk } from '../../src/adapters/ai-sdk.ts';
import { type AgentDriver, describeAgentAdapter, type Scene, type ScriptedTurn } from '../contracts/agent-adapter.ts';

type Calls = MockLanguageModelV4['doGenerateCalls'];
type Generated = Extract<ConstructorParameters<typeof MockLanguageModelV4>[0], object>['doGenerate'];
type Turn = Awaited<ReturnType<Extract<NonNullable<Generated>, (...args: never) => unknown>>>;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

function turnOf(turn: ScriptedTurn, number: number): Turn {
  if ('say' in turn)
    return {
      content: [{ type: 'text', text: turn.say }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    };
  return {
    content: turn.calls.map(({ name, input }, index) => ({
      type: 'tool-call',
      toolCallId: `call-${number}-${index}`,
      toolName: name,
      input: typeof input === 'string' ? input : JSON.stringify(input),
    })),
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  };
}

export const mock = (script: readonly ScriptedTurn[]): MockLanguageModelV4 =>
  new MockLanguageModelV4({ doGenerate: script.map(turnOf) });

/** What the model was given, call by call. */
export const seenBy = (calls: Calls) =>
  calls.map(({ tools, prompt }, turn) => {
    const results = new Map<string, string>();
    for (const { role, content } of prompt)
      if (role === 'tool')
        for (const part of content)
          if (part.type === 'tool-result') {
            const { output } = part;
            results.set(
              part.toolCallId,
              output.type === 'execution-denied'
                ? `denied: ${output.reason}`
                : String('value' in output ? output.value : ''),
            );
          }
    const ids = [...results.keys()].filter((id) => id.startsWith(`call-${turn - 1}-`)).sort();
    return {
      offered: (tools ?? []).map(({ name }) => name),
      instructions: prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n'),
      results: ids.map((id) => results.get(id) ?? ''),
    };
  });

const driver: AgentDriver = {
  async play({ agentSession, script, person }: Scene) {
    const model = mock(script);
    const agent = new ToolLoopAgent({ model, ...(await aiSdk(agentSession)), stopWhen: isStepCount(20) });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Mend sum.' }];
    for (;;) {
      const result = await agent.generate({ messages });
      messages.push(...result.response.messages);
      const requests = result.content.filter((part) => part.type === 'tool-approval-request');
      if (requests.length === 0) return seenBy(model.doGenerateCalls);
      const content = [];
      for (const { approvalId, reason } of requests) {
        const approved = await person(reason ?? '');
        content.push({
          type: 'tool-approval-response' as const,
          approvalId,
          approved,
          ...(approved ? {} : { reason: 'not approved' }),
        });
      }
      messages.push({ role: 'tool', content });
    }
  },
};

describeAgentAdapter('the AI SDK', () => driver);
