import { text } from 'node:stream/consumers';
import { Agent, RunState, run, setTracingDisabled } from '@openai/agents';
import { assistantMessage, ScriptedModel } from '@openai/agents/testing';
import { agentSession, openAiAgents } from '../../../src/adapters/openai-agents.ts';
import { openSession } from '../../../src/open-session.ts';

/** A process that reads an interrupted run from standard input, approves its request, and continues it. */
const [root = '', store = '', id = '', look = ''] = process.argv.slice(2);
setTracingDisabled(true);
const session = await openSession({ root, agent: 'worker', store, session: id, trustConfig: true });
const { tools, instructions, options, wanted } = await openAiAgents(agentSession(session), { by: 'ada' });
const model = new ScriptedModel([[assistantMessage('Done.')]]);
const agent = new Agent({ name: 'worker', model, tools, instructions });
const state = await RunState.fromString<undefined, typeof agent>(agent, await text(process.stdin));
for (const interruption of state.getInterruptions()) {
  if (look === 'look') console.log((await wanted(interruption))?.action.to);
  state.approve(interruption);
}
const { finalOutput } = await run(agent, state, options);
console.log(finalOutput, session.state.mode);
await session.detach();
