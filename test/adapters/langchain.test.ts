import { fakeModel } from '@langchain/core/testing';
import { Command, MemorySaver } from '@langchain/langgraph';
import { AIMessage, createAgent, createMiddleware, type ToolMessage } from 'langchain';
import { type ApprovalInterrupt, langChain } from '../../src/adapters/langchain.ts';
import {
  type AgentDriver,
  describeAgentAdapter,
  type Scene,
  type ScriptedTurn,
  type SeenTurn,
} from '../contracts/agent-adapter.ts';

export function fake(script: readonly ScriptedTurn[]): ReturnType<typeof fakeModel> {
  const model = fakeModel();
  for (const [number, turn] of script.entries())
    if ('say' in turn) model.respond(new AIMessage(turn.say));
    else
      model.respondWithTools(
        turn.calls.map(({ name, input }, index) => ({
          name,
          args: input as Record<string, unknown>,
          id: `call-${number}-${index}`,
        })),
      );
  return model;
}

/** Beneath the adapter: what the model is given. */
export const witness = (seen: SeenTurn[]) =>
  createMiddleware({
    name: 'witness',
    wrapModelCall(request, handler) {
      const results = request.messages.filter(
        (message): message is ToolMessage =>
          message.type === 'tool' && (message as ToolMessage).tool_call_id.startsWith(`call-${seen.length - 1}-`),
      );
      seen.push({
        offered: request.tools.map(({ name }) => String(name)),
        instructions: request.systemMessage.text,
        results: results.toSorted((a, b) => a.tool_call_id.localeCompare(b.tool_call_id)).map(({ text }) => text),
      });
      return handler(request);
    },
  });

const driver: AgentDriver = {
  async play({ agentSession, script, person }: Scene) {
    const seen: SeenTurn[] = [];
    const agent = createAgent({
      model: fake(script),
      middleware: [await langChain(agentSession), witness(seen)],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: '1' } };
    let result = await agent.invoke({ messages: [{ role: 'user', content: 'Mend sum.' }] }, config);
    for (;;) {
      const [waiting] = (result as { __interrupt__?: { value: ApprovalInterrupt }[] }).__interrupt__ ?? [];
      if (!waiting) return seen;
      const type = (await person(JSON.stringify(waiting.value))) ? 'approve' : 'reject';
      result = await agent.invoke(new Command({ resume: { decisions: [{ type }] } }), config);
    }
  },
};

describeAgentAdapter('LangChain', () => driver);
