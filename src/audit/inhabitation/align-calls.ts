import { fieldsOf } from '../../base/json.ts';
import { isBlobReference } from '../../evidence/blob-values.ts';
import type { Transcript, TranscriptItem } from '../../evidence/transcript.ts';
import type { Json } from '../../spec/types.ts';
import { isSameJson } from '../rules/compare-json.ts';
import type { SessionAct } from './session-acts.ts';

type TranscriptCall = Extract<TranscriptItem, { kind: 'call' }>;
type TranscriptResult = Extract<TranscriptItem, { kind: 'result' }>;

export interface CallWithResult {
  readonly item: TranscriptCall;
  readonly result: TranscriptResult | null;
}

/** The calls of a transcript matched with the acts of its evidence. */
export interface CallAlignment {
  readonly pairs: readonly { readonly call: CallWithResult; readonly act: SessionAct }[];
  /** Calls without an act, although each must be recorded. */
  readonly unrecorded: readonly CallWithResult[];
  /** Recorded acts of the agent without a call. Allowed starts do not count, because a program may make them. */
  readonly uncalled: readonly SessionAct[];
}

/** Calls that only read the session's state, so that no entry records them. */
const READ_ONLY_CALLS = ['status', 'why'];
/** Codes of refusals by the store, which the operator's log records instead of the session. */
const UNRECORDED_CODES = ['session-closed', 'session-busy', 'lease-expired'];

export function pairCallsWithResults({ items }: Transcript): readonly CallWithResult[] {
  const results = new Map<string, TranscriptResult>();
  for (const item of items) if (item.kind === 'result' && !results.has(item.callId)) results.set(item.callId, item);
  return items.flatMap((item) => (item.kind === 'call' ? [{ item, result: results.get(item.callId) ?? null }] : []));
}

/**
 * Matches calls with acts: by the entries that a result names, otherwise each call with the next act of its kind. The
 * acts have the order of their calls, except for calls that ran at the same time.
 */
export function alignCallsWithActs(calls: readonly CallWithResult[], acts: readonly SessionAct[]): CallAlignment {
  const agentActs = acts.filter(({ by, kind }) => by === 'agent' && kind !== 'close');
  const pairs: { call: CallWithResult; act: SessionAct }[] = [];
  const unrecorded: CallWithResult[] = [];
  const matched = new Set<SessionAct>();
  const actOfEntry = new Map(agentActs.flatMap((act) => act.entries.map((entry) => [entry, act])));
  /** For each finished call: the number of its result in the transcript, and the position of the next act. */
  let ended: { readonly item: number; readonly after: number }[] = [];
  let from = 0;
  for (const call of calls) {
    if (call.item.outside || READ_ONLY_CALLS.includes(call.item.tool) || leavesNoEntry(call)) continue;
    for (const { item, after } of ended) if (item < call.item.n) from = Math.max(from, after);
    ended = ended.filter(({ item }) => item > call.item.n);
    const fits = (act: SessionAct): boolean =>
      !matched.has(act) && isFor(act, call) && isNamed(act, call.result?.evidence);
    let at = from;
    while (at < agentActs.length && !fits(agentActs[at]!)) at += 1;
    const act = agentActs[at];
    if (act) {
      for (const mode of modesBefore(agentActs.slice(from, at), call)) matched.add(mode);
      pairs.push({ call, act });
      matched.add(act);
      // One call may make several steps: the start of a command in the background, and the read of its end.
      for (const entry of call.result?.evidence ?? []) {
        const more = actOfEntry.get(entry);
        if (more?.kind === 'step' && more.what === act.what) matched.add(more);
      }
      ended.push({ item: call.result?.n ?? Number.POSITIVE_INFINITY, after: at + 1 });
    } else if (call.result?.status !== 'error') unrecorded.push(call);
  }
  // A start has no call if a program, not the agent, started the peripheral.
  const uncalled = agentActs.filter((act) => !matched.has(act) && (act.kind !== 'start' || act.refused));
  return { pairs, unrecorded, uncalled };
}

/** The changes of mode before a hop that its call made, because it has the argument `mode`. */
function modesBefore(acts: readonly SessionAct[], { item, result }: CallWithResult): readonly SessionAct[] {
  if (item.tool !== 'hop' || asText(fieldsOf(item.input)['mode']) === '') return [];
  const others = acts.findLastIndex(({ kind, refused }) => kind !== 'mode' || refused);
  return acts.slice(others + 1).filter((act) => isNamed(act, result?.evidence));
}

/** True for a refusal without a code, which did not come from the gate, and for a refusal that is never recorded. */
const leavesNoEntry = ({ result }: CallWithResult): boolean =>
  result?.status === 'refused' && (result.code === null || UNRECORDED_CODES.includes(result.code));

const isNamed = ({ entries }: SessionAct, named: readonly string[] | null | undefined): boolean =>
  !named || entries.some((entry) => named.includes(entry));

/** True if the act matches the request and the outcome of a call. */
function isFor(act: SessionAct, { item, result }: CallWithResult): boolean {
  const input = fieldsOf(item.input);
  if (result && result.status !== 'error' && act.refused !== (result.status === 'refused')) return false;
  if (item.tool === 'hop') {
    if (act.kind === 'mode') return act.refused && asText(input['mode']) !== '';
    return (act.kind === 'hop' || act.kind === 'start') && sameOrCut(asText(input['hop'] ?? input['to']), act.what);
  }
  if (item.tool === 'stop') return act.kind === 'stop';
  if (item.tool === 'mode') return act.kind === 'mode' && sameOrCut(asText(input['to']), act.what);
  if (act.kind !== 'step' || act.what !== item.tool) return false;
  return Object.entries(act.args).every(([name, arg]) => {
    const value = input[name];
    return value === undefined || isBlobReference(arg) || sameOrCut(value, arg);
  });
}

/** Converts a value to the text that a session reads where it expects a text. */
const asText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** True if the values are equal, or if `value` is the beginning of the text `arg` with an ellipsis. */
const sameOrCut = (value: Json, arg: Json): boolean =>
  isSameJson(value, arg) ||
  (typeof value === 'string' && typeof arg === 'string' && value.endsWith('…') && arg.startsWith(value.slice(0, -1)));
