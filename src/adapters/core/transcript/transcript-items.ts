import { mapValues } from '../../../base/map-values.ts';
import { errorText, shorten } from '../../../base/text.ts';
import type { Attribution, Situation, TranscriptEvent } from '../../../ports/transcript-sink.ts';
import { toJson } from '../../../session/convert-input.ts';
import type { Session } from '../../../session/session.ts';
import type { Json } from '../../../spec/types.ts';
import type { AgentAnswer, AgentSession } from '../agent-session.ts';

export type RecordedItem = TranscriptEvent & Attribution;

/** The longest text in the transcript, in characters; the evidence has the full text. */
const MAX_TEXT = 2000;
const cutText = (text: string): string => shorten(text, MAX_TEXT);

export const sessionOpened = (sessionId: string, channel = 'session'): RecordedItem => ({
  kind: 'opened',
  sessionId,
  source: 'hopgate',
  channel,
});

export const sessionReleased = (): RecordedItem => ({ kind: 'let-go', source: 'hopgate', channel: 'session' });

export const toolsOffered = (tools: readonly string[]): RecordedItem => ({
  kind: 'offered',
  tools,
  source: 'hopgate',
  channel: 'tools',
});

export const deliveredMessage = (text: string, situation: Situation, channel = 'prompt'): RecordedItem => ({
  kind: 'delivered',
  text,
  situation,
  source: 'hopgate',
  channel,
});

export const assistantMessage = (text: string): RecordedItem => ({
  kind: 'said',
  text,
  source: 'agent',
  channel: 'text',
});

export const userMessage = (source: string, text: string, channel = 'text'): RecordedItem => ({
  kind: 'heard',
  text,
  source,
  channel,
});

interface ToolCallFields {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  /** The client's own name of the tool, if it has one. */
  readonly channel?: string;
}

/** @param outside true if the call bypassed hopgate */
export const toolCall = ({ id, tool, input, channel = 'call' }: ToolCallFields, outside = false): RecordedItem => ({
  kind: 'call',
  callId: id,
  tool,
  input: plainArguments(input),
  outside,
  source: 'agent',
  channel,
});

/** A call of a client tool that has no effect on the world. */
export const innerCall = ({ id, tool, input, channel = 'call' }: ToolCallFields): RecordedItem => ({
  kind: 'inner',
  callId: id,
  tool,
  input: plainArguments(input),
  source: 'agent',
  channel,
});

export interface ToolResultFields {
  readonly status: 'ok' | 'failed' | 'refused' | 'error';
  /** The denial's code; null if there is none. */
  readonly code?: string | null;
  readonly text: string;
  /** The agent's situation, if the text describes it; such a text is kept in full. */
  readonly situation?: Situation | null;
  /** The ids of the call's evidence entries; null if they are unknown. */
  readonly evidence?: readonly string[] | null;
}

export const toolResult = (
  callId: string,
  { status, code = null, text, situation = null, evidence = null }: ToolResultFields,
): RecordedItem => ({
  kind: 'result',
  callId,
  status,
  code,
  text: situation ? text : cutText(text),
  situation,
  evidence,
  source: 'hopgate',
  channel: 'result',
});

/** True if the answer to a call of this tool describes the agent's situation. */
export const reportsSituation = (tool: string, { status, data }: Pick<AgentAnswer, 'status' | 'data'>): boolean =>
  status === 'ok' && data !== null && (tool === 'hop' || tool === 'mode' || tool === 'status');

export const toolAnswerResult = (
  callId: string,
  { status, denial, text }: AgentAnswer,
  situation: Situation | null,
  evidence: readonly string[] | null = null,
): RecordedItem => toolResult(callId, { status, code: denial?.code ?? null, text, situation, evidence });

export const toolErrorResult = (
  callId: string,
  error: unknown,
  evidence: readonly string[] | null = null,
): RecordedItem => toolResult(callId, { status: 'error', text: errorText(error), evidence });

/** The ids of a call's evidence entries; null if none is recorded yet. */
export const knownEntryIds = (evidence: readonly { readonly id: string }[]): readonly string[] | null =>
  evidence.length === 0 ? null : evidence.map(({ id }) => id);

/** The agent's situation as data. */
export function situationOfStatus({
  peripheral,
  mode,
  backpack,
  available,
}: Pick<Awaited<ReturnType<AgentSession['status']>>, 'peripheral' | 'mode' | 'backpack' | 'available'>): Situation {
  const exits = available.hops.map(({ exit, to }) => ({ exit, to }));
  return { peripheral, mode, state: backpack, tools: available.tools, exits };
}

export const situationOf = (session: Session): Situation =>
  situationOfStatus({ ...session.state, available: session.available() });

/** The model's arguments in the form of the evidence, with long texts cut. */
const plainArguments = (value: unknown): Json => shortenJson(toJson(value ?? null));

function shortenJson(value: Json): Json {
  if (typeof value === 'string') return cutText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shortenJson);
  return mapValues(value, (part) => shortenJson(part));
}
