import { mapValues } from '../../../base/map-values.ts';
import { errorText, shorten } from '../../../base/text.ts';
import type { Attribution, SituationData, TranscriptEvent } from '../../../ports/transcript-sink.ts';
import { toPlainJson } from '../../../session/convert-input.ts';
import type { Session } from '../../../session/session.ts';
import type { Json } from '../../../spec/types.ts';
import type { AgentAnswer, AgentSession } from '../agent-session.ts';

export type RecordedTranscriptItem = TranscriptEvent & Attribution;

/** The longest text in the transcript, in characters; the evidence has the full text. */
const MAX_TEXT = 2000;
const cutText = (text: string): string => shorten(text, MAX_TEXT);

export const sessionOpenedItem = (sessionId: string, channel = 'session'): RecordedTranscriptItem => ({
  kind: 'opened',
  sessionId,
  source: 'hopgate',
  channel,
});

export const sessionReleasedItem = (): RecordedTranscriptItem => ({
  kind: 'let-go',
  source: 'hopgate',
  channel: 'session',
});

export const offeredToolsItem = (tools: readonly string[]): RecordedTranscriptItem => ({
  kind: 'offered',
  tools,
  source: 'hopgate',
  channel: 'tools',
});

export const deliveredMessageItem = (
  text: string,
  situation: SituationData,
  channel = 'prompt',
): RecordedTranscriptItem => ({ kind: 'delivered', text, situation, source: 'hopgate', channel });

export const assistantMessageItem = (text: string): RecordedTranscriptItem => ({
  kind: 'said',
  text,
  source: 'agent',
  channel: 'text',
});

export const userMessageItem = (source: string, text: string, channel = 'text'): RecordedTranscriptItem => ({
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
export const toolCallItem = (
  { id, tool, input, channel = 'call' }: ToolCallFields,
  outside = false,
): RecordedTranscriptItem => ({
  kind: 'call',
  callId: id,
  tool,
  input: plainArguments(input),
  outside,
  source: 'agent',
  channel,
});

/** A call of a client tool that has no effect on the world. */
export const innerCallItem = ({ id, tool, input, channel = 'call' }: ToolCallFields): RecordedTranscriptItem => ({
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
  readonly situation?: SituationData | null;
  /** The ids of the call's evidence entries; null if they are unknown. */
  readonly evidence?: readonly string[] | null;
}

export const toolResultItem = (
  callId: string,
  { status, code = null, text, situation = null, evidence = null }: ToolResultFields,
): RecordedTranscriptItem => ({
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
export const isSituationReport = (tool: string, { status, data }: Pick<AgentAnswer, 'status' | 'data'>): boolean =>
  status === 'ok' && data !== null && (tool === 'hop' || tool === 'mode' || tool === 'status');

export const toolAnswerItem = (
  callId: string,
  { status, denial, text }: AgentAnswer,
  situation: SituationData | null,
  evidence: readonly string[] | null = null,
): RecordedTranscriptItem => toolResultItem(callId, { status, code: denial?.code ?? null, text, situation, evidence });

export const toolErrorItem = (
  callId: string,
  error: unknown,
  evidence: readonly string[] | null = null,
): RecordedTranscriptItem => toolResultItem(callId, { status: 'error', text: errorText(error), evidence });

export const entryIdsOrNull = (evidence: readonly { readonly id: string }[]): readonly string[] | null =>
  evidence.length === 0 ? null : evidence.map(({ id }) => id);

export function situationOfStatus({
  peripheral,
  mode,
  backpack,
  available,
}: Pick<Awaited<ReturnType<AgentSession['status']>>, 'peripheral' | 'mode' | 'backpack' | 'available'>): SituationData {
  const exits = available.hops.map(({ exit, to }) => ({ exit, to }));
  return { peripheral, mode, state: backpack, tools: available.tools, exits };
}

export const transcriptSituation = (session: Session): SituationData =>
  situationOfStatus({ ...session.state, available: session.available() });

/** The model's arguments in the form of the evidence, with long texts cut. */
const plainArguments = (value: unknown): Json => shortenJson(toPlainJson(value ?? null));

function shortenJson(value: Json): Json {
  if (typeof value === 'string') return cutText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shortenJson);
  return mapValues(value, (part) => shortenJson(part));
}
