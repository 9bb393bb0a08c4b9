import type { LanguageModel } from 'ai';
import { type AgentDriver, AgentFailed } from '../agent-driver.ts';

/** A model of the AI SDK as an agent. It is called without tools, so every envelope holds. */
export function aiSdkDriver(model: LanguageModel): AgentDriver {
  return {
    name: 'ai-sdk',
    unenforceable: () => [],
    async run({ instructions, prompt, signal }) {
      const { generateText } = await import('ai');
      try {
        const { text } = await generateText({ model, instructions, prompt, abortSignal: signal, maxRetries: 0 });
        return text;
      } catch (error) {
        throw new AgentFailed((error as Error).message, { cause: error });
      }
    },
  };
}
