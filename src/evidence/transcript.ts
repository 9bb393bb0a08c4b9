import type { Json } from '../spec/types.ts';

type Fields = { readonly [name: string]: Json };

/** What an agent is told of where it is (P-2), as data: what the text beside it says in words. */
export interface Situation {
  readonly peripheral: string | null;
  readonly mode: string | null;
  /** What it sees: what travels with it (the backpack). */
  readonly state: Fields;
  /** What it can do here and now. */
  readonly tools: readonly string[];
  /** Where it can leave to, and how. */
  readonly exits: readonly { readonly exit: string | null; readonly to: string }[];
}

/**
 * What happened between an agent and its world, as the agent lived it.
 *
 * - `opened`: a program took the session up for the agent.
 * - `offered`: the tools that it may call were handed to it.
 * - `delivered`: something was put before it that it had not asked for. `situation`: where it is.
 * - `said`: its own words.
 * - `heard`: somebody else's words: a user, the operator, another agent.
 * - `call`: it acted. `outside`: past hopgate, by a tool that its program offered beside the session's.
 * - `inner`: it used a tool of its program that reaches nothing: a list, a plan, a question, the start of another agent.
 * - `result`: what the call came to; `evidence`: the entries that the call left, where the recorder was told of them.
 * - `let-go`: the program let go of the session.
 */
export type TranscriptEvent =
  | { readonly kind: 'opened'; readonly sessionId: string }
  | { readonly kind: 'offered'; readonly tools: readonly string[] }
  | { readonly kind: 'delivered'; readonly text: string; readonly situation: Situation | null }
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
      /** `error`: nothing came of it, as the world broke. */
      readonly status: 'ok' | 'failed' | 'refused' | 'error';
      /** The denial's code, where it was refused; null: its program refused it, and it never came before the session. */
      readonly code: string | null;
      readonly text: string;
      readonly situation: Situation | null;
      readonly evidence: readonly string[] | null;
    }
  | { readonly kind: 'let-go' };

/** Where an event came from. */
export interface Attribution {
  /** `agent`, `hopgate`, `operator`, `user`, or the id of another agent. */
  readonly source: string;
  /** How it came: `prompt`, `tools`, `call`, `result`, `text`, `bell`, … */
  readonly channel: string;
}

/** One item of a transcript, in the order of arrival: `n` counts from 0. */
export type TranscriptItem = TranscriptEvent & Attribution & { readonly n: number; readonly at: string };

/** A transcript as it was read: its items, and the lines that are none. */
export interface Transcript {
  readonly items: readonly TranscriptItem[];
  readonly problems: readonly { readonly line: number; readonly message: string }[];
}

export const NO_TRANSCRIPT: Transcript = { items: [], problems: [] };

/** Reads a transcript: an item a line (JSONL). A last line that was cut off in writing is left out; any other that is no item is a problem. */
export function parseTranscript(text: string): Transcript {
  const lines = text.split('\n');
  const items: TranscriptItem[] = [];
  const problems: { line: number; message: string }[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === '' || index === lines.length - 1) continue; // what follows the last line break was not finished
    const item = parseItem(line);
    if (typeof item === 'string') problems.push({ line: index + 1, message: item });
    else items.push(item);
  }
  return { items, problems };
}

/** The item, or what is wrong with it. */
function parseItem(line: string): TranscriptItem | string {
  let item: unknown;
  try {
    item = JSON.parse(line);
  } catch {
    return 'it is no JSON';
  }
  if (!isFields(item)) return 'it is no object';
  const { n, at, source, channel, kind } = item;
  if (!Number.isSafeInteger(n) || (n as number) < 0) return 'n is no count';
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return 'at is no time';
  if (typeof source !== 'string' || typeof channel !== 'string') return 'source or channel is no text';
  const shape = typeof kind === 'string' && Object.hasOwn(SHAPES, kind) ? SHAPES[kind as TranscriptItem['kind']] : null;
  if (shape === null) return `there is no kind of item "${String(kind)}"`;
  for (const [name, fits] of Object.entries(shape)) if (!fits(item[name])) return `${kind}: ${name} does not fit`;
  return item as unknown as TranscriptItem;
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFields = (value: unknown): value is { readonly [name: string]: unknown } =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const isSituation: Check = (value) =>
  isFields(value) &&
  orNull(isText)(value['peripheral']) &&
  orNull(isText)(value['mode']) &&
  isFields(value['state']) &&
  isTexts(value['tools']) &&
  Array.isArray(value['exits']) &&
  value['exits'].every((leg) => isFields(leg) && orNull(isText)(leg['exit']) && isText(leg['to']));

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
