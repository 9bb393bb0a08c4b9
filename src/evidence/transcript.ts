import { type Fields, isObject, type Json, parseJson } from '../base/json.ts';

/** The agent's situation as data, which check P-2 compares with the session. The prompt section states it in words. */
export interface SituationData {
  readonly peripheral: string | null;
  readonly mode: string | null;
  /** The fields of the backpack, which a session keeps over its hops. */
  readonly state: Fields;
  /** The tools that can be called now. */
  readonly tools: readonly string[];
  /** The exits and their destinations. */
  readonly exits: readonly { readonly exit: string | null; readonly to: string }[];
}

/**
 * One exchange between an agent and its world, from the agent's point of view.
 *
 * - `opened`: a program opened the session for the agent.
 * - `offered`: the agent received the list of its tools.
 * - `delivered`: the agent received an unrequested message. `situation`: its place, tools and exits.
 * - `said`: the agent's own words.
 * - `heard`: words of a user, the operator or another agent.
 * - `call`: a tool call. `outside`: the tool belongs to the agent's program and bypasses hopgate.
 * - `inner`: a call of a program's tool without outside effects: a list, a plan, a question, the start of another
 *   agent.
 * - `result`: the result of a call; `evidence`: the entries that the call left, if the recorder knows them.
 * - `let-go`: the program released the session.
 */
export type TranscriptEvent =
  | { readonly kind: 'opened'; readonly sessionId: string }
  | { readonly kind: 'offered'; readonly tools: readonly string[] }
  | { readonly kind: 'delivered'; readonly text: string; readonly situation: SituationData | null }
  | { readonly kind: 'said'; readonly text: string }
  | { readonly kind: 'heard'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly callId: string;
      readonly tool: string;
      readonly input: Json;
      readonly outside: boolean;
    }
  | { readonly kind: 'inner'; readonly callId: string; readonly tool: string; readonly input: Json }
  | {
      readonly kind: 'result';
      readonly callId: string;
      /** `error` if the infrastructure failed, so that the call has no result. */
      readonly status: 'ok' | 'failed' | 'refused' | 'error';
      /** The denial's code; null if the agent's program refused the call before the session received it. */
      readonly code: string | null;
      readonly text: string;
      readonly situation: SituationData | null;
      readonly evidence: readonly string[] | null;
    }
  | { readonly kind: 'let-go' };

/** The sender and the channel of a transcript event. */
export interface Attribution {
  /** `agent`, `hopgate`, `operator`, `user`, or the id of another agent. */
  readonly source: string;
  /** The channel: `prompt`, `tools`, `call`, `result`, `text`, `bell`, … */
  readonly channel: string;
}

/** One item of a transcript, in the order of arrival: `n` counts from 0. */
export type TranscriptItem = TranscriptEvent & Attribution & { readonly n: number; readonly at: string };

/** A parsed transcript: its items, and the problems of invalid lines. */
export interface Transcript {
  readonly items: readonly TranscriptItem[];
  readonly problems: readonly { readonly line: number; readonly message: string }[];
}

export const EMPTY_TRANSCRIPT: Transcript = { items: [], problems: [] };

/** Parses a transcript (JSONL). A truncated last line is ignored; any other invalid line is a problem. */
export function parseTranscript(text: string): Transcript {
  const lines = text.split('\n');
  const items: TranscriptItem[] = [];
  const problems: { line: number; message: string }[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === '' || index === lines.length - 1) continue; // Text after the last line break is an incomplete line.
    const item = parseItem(line);
    if (typeof item === 'string') problems.push({ line: index + 1, message: item });
    else items.push(item);
  }
  return { items, problems };
}

function parseItem(line: string): TranscriptItem | string {
  const item: unknown = parseJson(line);
  if (item === undefined) return 'it is not JSON';
  if (!isObject(item)) return 'it is not an object';
  const { n, at, source, channel, kind } = item;
  if (!Number.isSafeInteger(n) || (n as number) < 0) return 'n is not a count';
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return 'at is not a time';
  if (typeof source !== 'string' || typeof channel !== 'string') return 'source or channel is not text';
  const shape = typeof kind === 'string' && Object.hasOwn(SHAPES, kind) ? SHAPES[kind as TranscriptItem['kind']] : null;
  if (shape === null) return `there is no kind of item "${String(kind)}"`;
  for (const [name, fits] of Object.entries(shape)) if (!fits(item[name])) return `${kind}: ${name} does not fit`;
  return item as unknown as TranscriptItem;
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const isSituation: Check = (value) =>
  isObject(value) &&
  orNull(isText)(value['peripheral']) &&
  orNull(isText)(value['mode']) &&
  isObject(value['state']) &&
  isTexts(value['tools']) &&
  Array.isArray(value['exits']) &&
  value['exits'].every((leg) => isObject(leg) && orNull(isText)(leg['exit']) && isText(leg['to']));

const SHAPES: { readonly [kind in TranscriptItem['kind']]: { readonly [field: string]: Check } } = {
  opened: { sessionId: isText },
  offered: { tools: isTexts },
  delivered: { text: isText, situation: orNull(isSituation) },
  said: { text: isText },
  heard: { text: isText },
  call: {
    callId: isText,
    tool: isText,
    input: (value) => value !== undefined,
    outside: (value) => typeof value === 'boolean',
  },
  inner: { callId: isText, tool: isText, input: (value) => value !== undefined },
  result: {
    callId: isText,
    status: (value) => ['ok', 'failed', 'refused', 'error'].includes(value as string),
    code: orNull(isText),
    text: isText,
    situation: orNull(isSituation),
    evidence: orNull(isTexts),
  },
  'let-go': {},
};
