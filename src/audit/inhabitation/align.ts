import type { Transcript, TranscriptItem } from '../../evidence/transcript.ts';
import type { Json } from '../../spec/types.ts';
import { fieldsOf, isBlobReference, sameJson } from '../rules/compare-json.ts';
import type { Act } from './acts.ts';

export type CallItem = Extract<TranscriptItem, { kind: 'call' }>;
export type ResultItem = Extract<TranscriptItem, { kind: 'result' }>;

export interface AlignedCall {
  readonly item: CallItem;
  readonly result: ResultItem | null;
}

/** The calls of a transcript matched with the acts of its evidence. */
export interface Alignment {
  readonly pairs: readonly { readonly call: AlignedCall; readonly act: Act }[];
  /** Calls without evidence, although they must leave some. */
  readonly unheard: readonly AlignedCall[];
  /** Recorded acts attributed to the agent with no matching call. The initial `start` does not count. */
  readonly uncalled: readonly Act[];
}

/** Calls that only read the session's state; they leave no entry. */
const ASKING = ['status', 'why'];
/** Refusals by the store, which go to the operator's log. */
const UNRECORDED = ['session-closed', 'session-busy', 'lease-expired'];

export function callsOf({ items }: Transcript): readonly AlignedCall[] {
  const results = new Map<string, ResultItem>();
  for (const item of items) if (item.kind === 'result' && !results.has(item.callId)) results.set(item.callId, item);
  return items.flatMap((item) => (item.kind === 'call' ? [{ item, result: results.get(item.callId) ?? null }] : []));
}

/**
 * Matches calls with acts: by the entries that a result names, otherwise each call with the next act of its kind. Acts
 * are in the order of their calls, except for calls that ran at the same time.
 */
export function alignCalls(calls: readonly AlignedCall[], acts: readonly Act[]): Alignment {
  const own = acts.filter(({ by, kind }) => by === 'agent' && kind !== 'close');
  const pairs: { call: AlignedCall; act: Act }[] = [];
  const unheard: AlignedCall[] = [];
  const taken = new Set<Act>();
  /** For each finished call: the item that ended it, and the position after its act. */
  let ended: { readonly item: number; readonly after: number }[] = [];
  let from = 0;
  for (const call of calls) {
    if (call.item.outside || ASKING.includes(call.item.tool) || neverHeard(call)) continue;
    for (const { item, after } of ended) if (item < call.item.n) from = Math.max(from, after);
    ended = ended.filter(({ item }) => item > call.item.n);
    const fits = (act: Act): boolean => !taken.has(act) && isFor(act, call) && isNamed(act, call.result?.evidence);
    let at = from;
    while (at < own.length && !fits(own[at]!)) at += 1;
    const act = own[at];
    if (act) {
      for (const mode of modesBefore(own.slice(from, at), call)) taken.add(mode);
      pairs.push({ call, act });
      taken.add(act);
      ended.push({ item: call.result?.n ?? Number.POSITIVE_INFINITY, after: at + 1 });
    } else if (call.result?.status !== 'error') unheard.push(call);
  }
  // A start has no call if a program, not the agent, started the peripheral.
  const uncalled = own.filter((act) => !taken.has(act) && (act.kind !== 'start' || act.refused));
  return { pairs, unheard, uncalled };
}

/** The changes of mode that a hop's call made first, by its field `mode`. */
function modesBefore(acts: readonly Act[], { item, result }: AlignedCall): readonly Act[] {
  if (item.tool !== 'hop' || wordOf(fieldsOf(item.input)['mode']) === '') return [];
  const others = acts.findLastIndex(({ kind, refused }) => kind !== 'mode' || refused);
  return acts.slice(others + 1).filter((act) => isNamed(act, result?.evidence));
}

/** True for a refusal that did not come from the gate, or that is never recorded. */
const neverHeard = ({ result }: AlignedCall): boolean =>
  result?.status === 'refused' && (result.code === null || UNRECORDED.includes(result.code));

const isNamed = ({ entries }: Act, named: readonly string[] | null | undefined): boolean =>
  !named || entries.some((entry) => named.includes(entry));

/** True if the act matches the request and the outcome of a call. */
function isFor(act: Act, { item, result }: AlignedCall): boolean {
  const input = fieldsOf(item.input);
  if (result && result.status !== 'error' && act.refused !== (result.status === 'refused')) return false;
  if (item.tool === 'hop') {
    if (act.kind === 'mode') return act.refused && wordOf(input['mode']) !== '';
    return (act.kind === 'hop' || act.kind === 'start') && sameOrCut(wordOf(input['hop'] ?? input['to']), act.what);
  }
  if (item.tool === 'stop') return act.kind === 'stop';
  if (item.tool === 'mode') return act.kind === 'mode' && sameOrCut(wordOf(input['to']), act.what);
  if (act.kind !== 'step' || act.what !== item.tool) return false;
  return Object.entries(act.args).every(([name, arg]) => {
    const value = input[name];
    return value === undefined || isBlobReference(arg) || sameOrCut(value, arg);
  });
}

/** Reads a value in the same way in which a session reads a text. */
const wordOf = (value: Json | undefined): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Compares values; long texts were shortened, with an ellipsis at the cut. */
const sameOrCut = (value: Json, arg: Json): boolean =>
  sameJson(value, arg) ||
  (typeof value === 'string' && typeof arg === 'string' && value.endsWith('…') && arg.startsWith(value.slice(0, -1)));
