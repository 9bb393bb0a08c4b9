import type { Attribution, Situation, TranscriptEvent, TranscriptSink } from '../../ports/transcript-sink.ts';
import { asJson } from '../../session/as-json.ts';
import type { Json } from '../../spec/types.ts';
import type { AgentAnswer, AgentCall, AgentSession } from './agent-session.ts';

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

/** No long text is kept in full: who needs it finds it in the evidence. In characters. */
const KEPT = 2000;
const cut = (text: string): string =>
  text.length <= KEPT ? text : `${text.slice(0, KEPT).replace(/[\ud800-\udbff]$/, '')}…`;

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
  const from = (source: string, channel: string, event: TranscriptEvent): void =>
    sink.add({ ...event, source, channel } satisfies TranscriptEvent & Attribution);
  const lead = `${Date.now().toString(36)}.`;
  let calls = 0;
  let offered = '';

  const situation = async (): Promise<Situation> => {
    const { peripheral, mode, backpack, available } = await session.status();
    const exits = available.hops.map(({ exit, to }) => ({ exit, to }));
    return { peripheral, mode, state: backpack, tools: available.tools, exits };
  };
  const call = async (call: AgentCall): Promise<AgentAnswer> => {
    const callId = `${lead}${calls++}`;
    evidence?.();
    from('agent', 'call', {
      kind: 'call',
      callId,
      tool: call.name,
      input: plain(call.input),
      outside: false,
    });
    const came = { kind: 'result', callId } as const;
    const left = (): readonly string[] | null => evidence?.() ?? null;
    try {
      const answer = await session.call(call);
      const { status, text, denial } = answer;
      const tells = status === 'ok' && (call.name === 'hop' || call.name === 'mode' || call.name === 'status');
      from('hopgate', 'result', {
        ...came,
        status,
        code: denial?.code ?? null,
        text: tells ? text : cut(text),
        situation: tells ? await situation() : null,
        evidence: left(),
      });
      return answer;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      from('hopgate', 'result', { ...came, status: 'error', code: null, text, situation: null, evidence: left() });
      throw error;
    }
  };
  from('hopgate', 'session', { kind: 'opened', sessionId: session.id });
  return {
    id: session.id,
    call,
    allTools: () => session.allTools(),
    wants: (call) => session.wants(call),
    status: () => session.status(),
    async tools() {
      const tools = await session.tools();
      const names = tools.map(({ name }) => name);
      if (names.join(' ') !== offered) from('hopgate', 'tools', { kind: 'offered', tools: names });
      offered = names.join(' ');
      return tools;
    },
    async prompt() {
      const text = await session.prompt();
      from('hopgate', 'prompt', { kind: 'delivered', text, situation: await situation() });
      return text;
    },
    async close() {
      from('hopgate', 'session', { kind: 'let-go' });
      await session.close();
    },
    said: (text) => from('agent', 'text', { kind: 'said', text }),
    heard: (source, text, channel = 'text') => from(source, channel, { kind: 'heard', text }),
    actedOutside: (tool, input) =>
      from('agent', 'call', {
        kind: 'call',
        callId: `${lead}${calls++}`,
        tool,
        input: plain(input),
        outside: true,
      }),
  };
}

/** What a model gave, as the session's own evidence spells it, with its long texts cut. */
const plain = (value: unknown): Json => shortened(asJson(value ?? null));

function shortened(value: Json): Json {
  if (typeof value === 'string') return cut(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shortened);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortened(part)]));
}
