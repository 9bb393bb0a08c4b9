import { Agent, run, setTracingDisabled } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { openAiAgents } from '../../src/adapters/openai-agents.ts';
import {
  type AgentDriver,
  describeAgentAdapter,
  type Scene,
  type ScriptedTurn,
  type SeenTurn,
} from '../contracts/agent-adapter.ts';

setTracingDisabled(true);

export const scripted = (script: readonly ScriptedTurn[]): ScriptedModel =>
  new ScriptedModel(
    script.map((turn, number) =>
      'say' in turn
        ? [assistantMessage(turn.say)]
        : turn.calls.map(({ name, input }, index) => functionCall(name, input, { callId: `call-${number}-${index}` })),
    ),
  );

export const seenBy = ({ calls }: ScriptedModel): readonly SeenTurn[] =>
  calls.map(({ request: { tools, input, systemInstructions } }, turn) => {
    const results = (typeof input === 'string' ? [] : input).flatMap((item) =>
      item.type === 'function_call_result' && item.callId.startsWith(`call-${turn - 1}-`) ? [item] : [],
    );
    return {
      offered: tools.map((tool) => ('name' in tool ? tool.name : '')),
      instructions: systemInstructions ?? '',
      results: results
        .toSorted((a, b) => a.callId.localeCompare(b.callId))
        .map(({ output }) => (typeof output === 'string' ? output : (output as { text: string }).text)),
    };
  });

const driver: AgentDriver = {
  lacks: { malformedArguments: 'the SDK parses the arguments itself and answers what is no JSON' },
  async play({ agentSession, script, person }: Scene) {
    const model = scripted(script);
    const hopgate = await openAiAgents(agentSession);
    const { tools, instructions } = hopgate;
    const agent = new Agent({ name: 'worker', model, tools, instructions });
    let result = await run(agent, 'Mend sum.', hopgate.options);
    while (result.interruptions.length > 0) {
      for (const interruption of result.interruptions)
        if (await person(JSON.stringify(await hopgate.wanted(interruption)))) result.state.approve(interruption);
        else result.state.reject(interruption);
      result = await run(agent, result.state, hopgate.options);
    }
    return seenBy(model);
  },
};

describeAgentAdapter('OpenAI Agents', () => driver);
