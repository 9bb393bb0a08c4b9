import type { TranscriptSink } from '../../../ports/transcript-sink.ts';
import type { AgentAnswer, AgentCall, AgentSession } from '../agent-session.ts';
import {
  assistantMessageItem,
  deliveredMessageItem,
  isSituationReport,
  offeredToolsItem,
  sessionOpenedItem,
  sessionReleasedItem,
  situationOfStatus,
  toolAnswerItem,
  toolCallItem,
  toolErrorItem,
  userMessageItem,
} from './transcript-items.ts';

/** A session that records its agent's transcript. The program reports events that do not pass through the session. */
export interface RecordedSession extends AgentSession {
  said(text: string): void;
  /** Records a message to the agent from `user`, `operator`, or another agent's id. */
  heard(source: string, text: string, channel?: string): void;
  /** Records a call of a tool that the program offers in addition to the session's. */
  actedOutside(tool: string, input: unknown): void;
}

export interface RecordOptions {
  /**
   * Returns the ids of the entries recorded since the last call, for example from `onEntry` of `openSession`. The ids
   * tie each call to its entries, so set this only for an agent that makes one call at a time.
   */
  readonly evidence?: () => readonly string[];
}

/**
 * Records an agent's transcript: messages to it, its own messages and calls, and their results. Give the adapter the
 * returned session instead of the original one.
 *
 * @example
 * const recorded = recordTranscript(agentSession(session), transcriptTo('/home/me/transcript.jsonl'));
 * const loop = plainLoop(recorded);
 */
export function recordTranscript(
  session: AgentSession,
  sink: TranscriptSink,
  { evidence }: RecordOptions = {},
): RecordedSession {
  const idPrefix = `${Date.now().toString(36)}.`;
  let calls = 0;
  let lastOffered = '';

  const situation = async () => situationOfStatus(await session.status());
  const call = async (call: AgentCall): Promise<AgentAnswer> => {
    const id = `${idPrefix}${calls++}`;
    const { name: tool, input } = call;
    evidence?.();
    sink.add(toolCallItem({ id, tool, input }));
    const newEvidence = (): readonly string[] | null => evidence?.() ?? null;
    try {
      const answer = await session.call(call);
      sink.add(toolAnswerItem(id, answer, isSituationReport(tool, answer) ? await situation() : null, newEvidence()));
      for (const { author, text, kind } of answer.messages ?? []) sink.add(userMessageItem(author, text, kind));
      return answer;
    } catch (error) {
      sink.add(toolErrorItem(id, error, newEvidence()));
      throw error;
    }
  };
  sink.add(sessionOpenedItem(session.id));
  return {
    id: session.id,
    call,
    allTools: () => session.allTools(),
    wants: (call) => session.wants(call),
    status: () => session.status(),
    async tools() {
      const tools = await session.tools();
      const now = tools.map(({ name }) => name);
      if (now.join(' ') !== lastOffered) sink.add(offeredToolsItem(now));
      lastOffered = now.join(' ');
      return tools;
    },
    async prompt(options) {
      const text = await session.prompt(options);
      sink.add(deliveredMessageItem(text, await situation()));
      return text;
    },
    async close() {
      sink.add(sessionReleasedItem());
      await session.close();
    },
    said: (text) => sink.add(assistantMessageItem(text)),
    heard: (source, text, channel) => sink.add(userMessageItem(source, text, channel)),
    actedOutside: (tool, input) => sink.add(toolCallItem({ id: `${idPrefix}${calls++}`, tool, input }, true)),
  };
}
