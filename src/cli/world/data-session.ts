import type { AgentAnswer, AgentCall, AgentSession } from '../../adapters/core/agent-session.ts';
import { describeRefusal } from '../../adapters/core/describe-refusal.ts';
import { renderResult } from '../../adapters/core/render-result.ts';
import { renderMessagesForAgent } from '../../adapters/core/turn-messages.ts';
import { asJson } from '../../base/json.ts';
import type { Denial } from '../../gate/denial.ts';
import type { Message } from '../../ports/message-store.ts';
import type { Fields, Json } from '../../spec/types.ts';

/** The answer to a step or a hop, as the HTTP API and `hopgate shell --json` send it. */
export type StepOrHopAnswer =
  | { readonly ok: false; readonly denial: Denial }
  | {
      readonly ok: true;
      readonly outcome?: 'ok' | 'failed';
      readonly result?: Json;
      readonly error?: { readonly code: string; readonly message: string } | null;
    };

/** A connection that returns only data, without texts for a model. */
export interface SessionDataConnection {
  step(tool: string, args: Fields): Promise<StepOrHopAnswer>;
  hop(hop: { readonly hop: string; readonly exit?: string; readonly reason: string }): Promise<StepOrHopAnswer>;
  status(): ReturnType<AgentSession['status']>;
  inbox(): Promise<readonly Message[]>;
  acknowledge(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** A session over a {@link SessionDataConnection}: the agent's program itself builds the texts from the data. */
export function sessionFromData(
  { id, allTools }: Pick<AgentSession, 'id' | 'allTools'>,
  connection: SessionDataConnection,
): AgentSession {
  let shownIds: readonly string[] = [];
  const status = async (): Promise<string> => JSON.stringify(await connection.status(), null, 2);
  const arrived = async (): Promise<Pick<AgentAnswer, 'status' | 'text' | 'data' | 'denial'>> => {
    const text = await status();
    return { status: 'ok', text, data: JSON.parse(text) as Json, denial: null };
  };
  const carryOut = async ({ name, input }: AgentCall): Promise<Omit<AgentAnswer, 'toolsChanged' | 'messages'>> => {
    if (name === 'status') return arrived();
    const answer =
      name === 'hop'
        ? await connection.hop(input as Parameters<SessionDataConnection['hop']>[0])
        : await connection.step(name, input as { [name: string]: Json });
    if (!answer.ok) {
      const { denial } = answer;
      return { status: 'refused', text: describeRefusal(denial, null), data: asJson(denial), denial };
    }
    if (name === 'hop') return arrived();
    const { outcome, result = null, error } = answer;
    const text = `${outcome === 'failed' ? `failed: ${error?.message ?? ''}\n` : ''}${renderResult(result)}`;
    return { status: outcome === 'failed' ? 'failed' : 'ok', text, data: result, denial: null };
  };
  return {
    id,
    allTools,
    async tools() {
      const { tools } = (await connection.status()).available;
      return (await allTools()).filter(({ name, kind }) => kind === 'control' || tools.includes(name));
    },
    async call(call) {
      const seen = shownIds;
      const answer = await carryOut(call);
      if (seen.length > 0) await connection.acknowledge(seen);
      const fresh = (await connection.inbox()).filter(({ id: message }) => !seen.includes(message));
      shownIds = fresh.map(({ id: message }) => message);
      if (fresh.length === 0) return { ...answer, toolsChanged: false };
      return {
        ...answer,
        text: `${answer.text}\n${renderMessagesForAgent(fresh)}`,
        messages: fresh,
        toolsChanged: false,
      };
    },
    wants: async () => null,
    status: () => connection.status(),
    prompt: status,
    close: () => connection.close(),
  };
}
