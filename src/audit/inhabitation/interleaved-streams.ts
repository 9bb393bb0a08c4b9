import type { TranscriptItem } from '../../evidence/transcript.ts';
import { type DemandFailure, type DemandResult, demandResultOf, inapplicableDemand } from './inhabitation-demands.ts';
import type { SessionTimeline } from './session-timeline.ts';

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
export function judgeInterleavedStreams({ transcript }: SessionTimeline): DemandResult {
  const { items, problems } = transcript;
  if (items.length === 0 && problems.length === 0) return inapplicableDemand('P-6', 'there is no transcript');
  const failures: DemandFailure[] = problems.map(({ line, message }) => ({
    item: null,
    seq: null,
    reason: `line ${line} is not an item: ${message}`,
  }));
  const open = new Set<string>();
  let time = Number.NEGATIVE_INFINITY;
  for (const [index, item] of items.entries()) {
    const fail = (reason: string): number => failures.push({ item: item.n, seq: null, reason });
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
  return demandResultOf('P-6', failures);
}
