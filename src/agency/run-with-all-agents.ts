import type { RunReply } from './run-reply.ts';

export interface AllAgentsResult {
  /** `all` if every run succeeded, `partial` if some failed, `none` if all failed. */
  readonly outcome: 'all' | 'partial' | 'none';
  readonly replies: { readonly [agent: string]: RunReply };
}

/** Runs a request with several agents in parallel. One failure never ends the others. */
export async function runWithAllAgents(
  agents: readonly string[],
  run: (agent: string) => Promise<RunReply>,
): Promise<AllAgentsResult> {
  const names = [...new Set(agents)];
  const replies = await Promise.all(names.map(async (agent) => [agent, await run(agent)] as const));
  const good = replies.filter(([, { ok }]) => ok).length;
  const outcome = good === replies.length ? 'all' : good === 0 ? 'none' : 'partial';
  return { outcome, replies: Object.fromEntries(replies) };
}
