import { shorten } from '../../../base/text.ts';
import type { Attribution, Situation, TranscriptEvent } from '../../../ports/transcript-sink.ts';
import { asJson } from '../../../session/as-json.ts';
import type { Session } from '../../../session/session.ts';
import type { Json } from '../../../spec/types.ts';
import type { AgentAnswer, AgentSession } from '../agent-session.ts';

/** An event of a transcript with where it came from. */
export type Item = TranscriptEvent & Attribution;

/** No long text is kept in full: who needs it finds it in the evidence. In characters. */
const KEPT = 2000;
const cut = (text: string): string => shorten(text, KEPT);

export const sessionOpened = (sessionId: string, channel = 'session'): Item => ({
  kind: 'opened',
  sessionId,
  source: 'hopgate',
  channel,
});

export const sessionReleased = (): Item => ({ kind: 'let-go', source: 'hopgate', channel: 'session' });

export const toolsOffered = (tools: readonly string[]): Item => ({
  kind: 'offered',
  tools,
  source: 'hopgate',
  channel: 'tools',
});

export const delivered = (text: string, situation: Situation, channel = 'prompt'): Item => ({
  kind: 'delivered',
  text,
  situation,
  source: 'hopgate',
  channel,
});

export const assistantMessage = (text: string): Item => ({ kind: 'said', text, source: 'agent', channel: 'text' });

export const userMessage = (source: string, text: string, channel = 'text'): Item => ({
  kind: 'heard',
  text,
  source,
  channel,
});

/** A call that an agent made. */
export interface ToolCallFields {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  /** How it came: the client's own name of the tool, where it has one. */
  readonly channel?: string;
}

/** @param outside it went past hopgate */
export const toolCall = ({ id, tool, input, channel = 'call' }: ToolCallFields, outside = false): Item => ({
  kind: 'call',
  callId: id,
  tool,
  input: plain(input),
  outside,
  source: 'agent',
  channel,
});

/** A tool of the agent's program that reaches nothing. */
export const innerCall = ({ id, tool, input, channel = 'call' }: ToolCallFields): Item => ({
  kind: 'inner',
  callId: id,
  tool,
  input: plain(input),
  source: 'agent',
  channel,
});

/** What came of a call. */
export interface ToolResultFields {
  readonly status: 'ok' | 'failed' | 'refused' | 'error';
  /** The denial's; null: there is none. */
  readonly code?: string | null;
  readonly text: string;
  /** Where the agent is now, where the text tells it; then the text is kept whole. */
  readonly situation?: Situation | null;
  /** The ids of the entries that it left, where they are known. */
  readonly evidence?: readonly string[] | null;
}

export const toolResult = (
  callId: string,
  { status, code = null, text, situation = null, evidence = null }: ToolResultFields,
): Item => ({
  kind: 'result',
  callId,
  status,
  code,
  text: situation ? text : cut(text),
  situation,
  evidence,
  source: 'hopgate',
  channel: 'result',
});

/** Whether the answer to a call of this tool says where the agent is. */
export const reportsSituation = (tool: string, { status }: Pick<AgentAnswer, 'status'>): boolean =>
  status === 'ok' && (tool === 'hop' || tool === 'mode' || tool === 'status');

/** What an agent session answered. */
export const toolAnswer = (
  callId: string,
  { status, denial, text }: AgentAnswer,
  situation: Situation | null,
  evidence: readonly string[] | null = null,
): Item => toolResult(callId, { status, code: denial?.code ?? null, text, situation, evidence });

export const toolFault = (callId: string, error: unknown, evidence: readonly string[] | null = null): Item =>
  toolResult(callId, { status: 'error', text: error instanceof Error ? error.message : String(error), evidence });

/** The entries that a call left; null where it cannot be told: some are recorded later. */
export const idsOf = (evidence: readonly { readonly id: string }[]): readonly string[] | null =>
  evidence.length === 0 ? null : evidence.map(({ id }) => id);

/** Where an agent is, as data. */
export function situationIn({
  peripheral,
  mode,
  backpack,
  available,
}: Pick<Awaited<ReturnType<AgentSession['status']>>, 'peripheral' | 'mode' | 'backpack' | 'available'>): Situation {
  const exits = available.hops.map(({ exit, to }) => ({ exit, to }));
  return { peripheral, mode, state: backpack, tools: available.tools, exits };
}

export const situationOf = (session: Session): Situation =>
  situationIn({ ...session.state, available: session.available() });

/** What a model gave, as the session's own evidence spells it, with its long texts cut. */
const plain = (value: unknown): Json => shortened(asJson(value ?? null));

function shortened(value: Json): Json {
  if (typeof value === 'string') return cut(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shortened);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortened(part)]));
}
