import type { AgentDriver, AgentTask } from '../agent-driver.ts';

/** An agent that answers from a list; the last answer is repeated. It has no tools, so every envelope holds. */
export function scriptedDriver(
  replies: readonly (string | ((task: AgentTask) => string | Promise<string>))[],
): AgentDriver {
  let turn = 0;
  return {
    name: 'scripted',
    unenforceable: () => [],
    async run(task) {
      const reply = replies[Math.min(turn++, replies.length - 1)] ?? '';
      return typeof reply === 'string' ? reply : reply(task);
    },
  };
}
