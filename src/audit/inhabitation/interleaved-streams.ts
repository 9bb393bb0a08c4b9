import type { TranscriptItem } from '../../evidence/transcript.ts';
import { type CheckResult, type InhabitationFinding, inapplicableCheck, judgedCheck } from './inhabitation-checks.ts';
import type { SessionTimeline } from './session-timeline.ts';

/** The only possible source of each kind of item. */
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
 * P-6: inputs and actions of the agent are one stream in the order of arrival. Each item names its source, none is
 * missing, none precedes the item that it follows from, and each result answers one earlier call.
 */
export function interleavedStreams({ transcript }: SessionTimeline): CheckResult {
  const { items, problems } = transcript;
  if (items.length === 0 && problems.length === 0) return inapplicableCheck('P-6', 'there is no transcript');
  const findings: InhabitationFinding[] = problems.map(({ line, message }) => ({
    item: null,
    seq: null,
    reason: `line ${line} is not an item: ${message}`,
  }));
  const open = new Set<string>();
  let time = Number.NEGATIVE_INFINITY;
  for (const [index, item] of items.entries()) {
    const say = (reason: string): number => findings.push({ item: item.n, seq: null, reason });
    const expected = (items[index - 1]?.n ?? -1) + 1;
    if (item.n !== expected) say(`item ${expected} was expected here`);
    if (Date.parse(item.at) < time) say('it is earlier than the item before it');
    time = Math.max(time, Date.parse(item.at));
    if (item.source.trim() === '' || item.channel.trim() === '') say('its source is unknown');
    const source = SOURCE[item.kind];
    if (source !== undefined && item.source !== source)
      say(`${item.kind} came from ${item.source}, not from ${source}`);
    if (item.kind === 'heard' && item.source === 'agent')
      say("the agent's own words came back to it as the words of another");
    if (item.kind === 'call') {
      if (open.has(item.callId)) say(`call ${item.callId} was made twice`);
      open.add(item.callId);
    }
    if (item.kind === 'result' && !open.delete(item.callId)) say(`it answers no call that is open: ${item.callId}`);
  }
  return judgedCheck('P-6', findings);
}
