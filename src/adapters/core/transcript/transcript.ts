import type { TranscriptSink } from '../../../ports/transcript-sink.ts';
import type { AgentAnswer, AgentCall, AgentSession } from '../agent-session.ts';
import {
  toolCall,
  toolAnswer,
  toolFault,
  delivered,
  userMessage,
  sessionReleased,
  toolsOffered,
  sessionOpened,
  assistantMessage,
  situationIn,
  reportsSituation,
} from './transcript-items.ts';

/** A session whose agent's life is recorded. What does not pass through the session itself is told to it. */
export interface RecordedSession extends AgentSession {
  /** The agent's own words. */
  said(text: string): void;
  /** Somebody else's words, as they reached the agent: `user`, `operator`, or another agent's id. */
  heard(source: string, text: string, channel?: string): void;
  /** The agent used a tool that its program offers beside the session's. */
  actedOutside(tool: string, input: unknown): void;
}

export interface RecordOptions {
  /**
   * The ids of the entries that were recorded since it was asked last; by `onEntry` of `openSession`, say. Only for an agent that makes one
   * call at a time: it ties each call to its entries.
   */
  readonly evidence?: () => readonly string[];
}

/**
 * Records what an agent lives through: what is delivered to it, what it says and calls, what comes of it. Give the adapter the recorded session
 * in place of the other.
 *
 * @example
 * const session = recordTranscript(agentSession(opened), transcriptTo('/home/me/transcript.jsonl'));
 * const loop = plainLoop(session);
 */
export function recordTranscript(
  session: AgentSession,
  sink: TranscriptSink,
  { evidence }: RecordOptions = {},
): RecordedSession {
  const lead = `${Date.now().toString(36)}.`;
  let calls = 0;
  let names = '';

  const situation = async () => situationIn(await session.status());
  const call = async (call: AgentCall): Promise<AgentAnswer> => {
    const id = `${lead}${calls++}`;
    const { name: tool, input } = call;
    evidence?.();
    sink.add(toolCall({ id, tool, input }));
    const left = (): readonly string[] | null => evidence?.() ?? null;
    try {
      const answer = await session.call(call);
      sink.add(toolAnswer(id, answer, reportsSituation(tool, answer) ? await situation() : null, left()));
      return answer;
    } catch (error) {
      sink.add(toolFault(id, error, left()));
      throw error;
    }
  };
  sink.add(sessionOpened(session.id));
  return {
    id: session.id,
    call,
    allTools: () => session.allTools(),
    wants: (call) => session.wants(call),
    status: () => session.status(),
    async tools() {
      const tools = await session.tools();
      const now = tools.map(({ name }) => name);
      if (now.join(' ') !== names) sink.add(toolsOffered(now));
      names = now.join(' ');
      return tools;
    },
    async prompt() {
      const text = await session.prompt();
      sink.add(delivered(text, await situation()));
      return text;
    },
    async close() {
      sink.add(sessionReleased());
      await session.close();
    },
    said: (text) => sink.add(assistantMessage(text)),
    heard: (source, text, channel) => sink.add(userMessage(source, text, channel)),
    actedOutside: (tool, input) => sink.add(toolCall({ id: `${lead}${calls++}`, tool, input }, true)),
  };
}
