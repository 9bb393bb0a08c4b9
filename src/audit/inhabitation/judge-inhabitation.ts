import type { Entry } from '../../evidence/entry.ts';
import type { Transcript, TranscriptItem } from '../../evidence/transcript.ts';
import { CONTROLS } from '../../spec/policy/tool-ids.ts';
import type { SpecSet } from '../../spec/types.ts';
import { judgeContextInjection } from './context-injection.ts';
import {
  type DemandFailure,
  type DemandResult,
  demandResult,
  failDemand,
  inapplicableDemand,
} from './inhabitation-demands.ts';
import { buildSessionTimeline, describeAct, type SessionTimeline } from './session-timeline.ts';
import { judgeSituatedVoice } from './situated-voice.ts';

/**
 * Judges demands P-1 to P-6 over the agent's transcript, the session's pinned spec and its evidence. A program that
 * drives a session from outside can obey every rule of the spec and still fails a demand.
 */
export function judgeInhabitation(
  transcript: Transcript,
  specs: SpecSet,
  entries: readonly Entry[],
): readonly DemandResult[] {
  const timeline = buildSessionTimeline(transcript, specs, entries);
  return [
    judgeWorldReplacement(timeline),
    judgeContextInjection(timeline),
    judgeConfinement(timeline),
    judgeExplicitExit(timeline),
    judgeSituatedVoice(timeline),
    judgeInterleavedStreams(timeline),
  ];
}

/**
 * Judges P-1: the agent acts only through its present peripheral. Every call went through the session, nobody else
 * acted in the agent's name, the transcript has no items of another session, and no visit began during another one.
 */
function judgeWorldReplacement({ sessionId, transcript, calls, acts, alignment }: SessionTimeline): DemandResult {
  const failures: DemandFailure[] = [];
  if (calls.length === 0) failures.push(failDemand('no call of the agent is on record'));
  for (const item of transcript.items)
    if (item.kind === 'opened' && item.sessionId !== sessionId)
      failures.push(failDemand(`the item belongs to another session: ${item.sessionId}`, { item: item.n }));
  for (const { item } of calls)
    if (item.outside) failures.push(failDemand(`${item.tool} did not go through the session`, { item: item.n }));
  for (const act of alignment.uncalled)
    failures.push(failDemand(`${describeAct(act)} was done in the agent's name by another program`, { seq: act.seq }));
  let inside: string | null = null;
  for (const { seq, left, entered } of acts) {
    if (left !== null) inside = null;
    if (entered === null) continue;
    if (inside !== null)
      failures.push(failDemand(`${entered.peripheral} was entered before ${inside} was left`, { seq }));
    inside = entered.peripheral;
  }
  return demandResult('P-1', failures);
}

/** The calls that are always available. `stop` is for sub-agents. */
const ALWAYS_OPEN = [...CONTROLS, 'stop'];

/** Judges P-3: the calls and the entries match, and each successful call names a tool that was offered. */
function judgeConfinement({ transcript, calls, acts, alignment }: SessionTimeline): DemandResult {
  if (calls.length === 0 && acts.length === 0) return inapplicableDemand('P-3', 'nothing was done');
  const failures: DemandFailure[] = [
    ...alignment.unrecorded.map(({ item }) =>
      failDemand(`the call of ${item.tool} left no evidence`, { item: item.n }),
    ),
    ...alignment.uncalled.map((act) =>
      failDemand(`${describeAct(act)} is in the evidence, but the agent made no such call`, { seq: act.seq }),
    ),
  ];
  /** The tools in the latest list that the agent got. */
  let offered: readonly string[] = [];
  const byId = new Map(calls.map((call) => [call.item.callId, call]));
  for (const item of transcript.items) {
    if (item.kind === 'offered') offered = item.tools;
    if ((item.kind === 'delivered' || item.kind === 'result') && item.situation)
      offered = [...item.situation.tools, ...ALWAYS_OPEN];
    if (item.kind !== 'call') continue;
    const result = byId.get(item.callId)?.result;
    const hasRun = item.outside || result?.status === 'ok' || result?.status === 'failed';
    if (hasRun && !offered.includes(item.tool))
      failures.push(failDemand(`${item.tool} was used, but not offered to the agent`, { item: item.n }));
  }
  return demandResult('P-3', failures);
}

/**
 * Judges P-4: each visit ended by a hop or stop that the agent or the operator requested. The last visit may be open.
 */
function judgeExplicitExit({ acts, alignment, stillIn }: SessionTimeline): DemandResult {
  if (!acts.some(({ entered }) => entered !== null))
    return inapplicableDemand('P-4', 'the session entered no peripheral');
  const failures: DemandFailure[] = [];
  for (const act of acts)
    if (act.left !== null && alignment.uncalled.includes(act))
      failures.push(failDemand(`the agent did not request to leave ${act.left}`, { seq: act.seq }));
  const last = acts.at(-1);
  if (stillIn !== null && last?.kind === 'close')
    failures.push(
      failDemand(`the session was closed during the visit to ${stillIn}; no exit was taken`, { seq: last.seq }),
    );
  return demandResult('P-4', failures);
}

/** The only possible source of an item, by its kind. Other kinds may have any source. */
const SOURCE: { readonly [kind in TranscriptItem['kind']]?: string } = {
  opened: 'hopgate',
  offered: 'hopgate',
  delivered: 'hopgate',
  result: 'hopgate',
  'let-go': 'hopgate',
  said: 'agent',
  call: 'agent',
  inner: 'agent',
};

/**
 * Judges P-6: the agent's inputs and actions form one stream in the order of arrival. Each item names its source, no
 * number is missing, no item is earlier than the one before it, and each result belongs to one earlier call.
 */
function judgeInterleavedStreams({ transcript }: SessionTimeline): DemandResult {
  const { items, problems } = transcript;
  if (items.length === 0 && problems.length === 0) return inapplicableDemand('P-6', 'there is no transcript');
  const failures: DemandFailure[] = problems.map(({ line, message }) =>
    failDemand(`line ${line} is not an item: ${message}`),
  );
  const open = new Set<string>();
  let time = Number.NEGATIVE_INFINITY;
  for (const [index, item] of items.entries()) {
    const fail = (reason: string): number => failures.push(failDemand(reason, { item: item.n }));
    const expected = (items[index - 1]?.n ?? -1) + 1;
    if (item.n !== expected) fail(`the number of the item is not ${expected}`);
    if (Date.parse(item.at) < time) fail('the item is earlier than the item before it');
    time = Math.max(time, Date.parse(item.at));
    if (item.source.trim() === '' || item.channel.trim() === '') fail('the item names no source');
    const source = SOURCE[item.kind];
    if (source !== undefined && item.source !== source)
      fail(`${item.kind} came from ${item.source}, not from ${source}`);
    if (item.kind === 'heard' && item.source === 'agent') fail('the agent got its own words as words of somebody else');
    if (item.kind === 'call') {
      if (open.has(item.callId)) fail(`call ${item.callId} was made twice`);
      open.add(item.callId);
    }
    if (item.kind === 'result' && !open.delete(item.callId))
      fail(`the result belongs to no unanswered call: ${item.callId}`);
  }
  return demandResult('P-6', failures);
}
