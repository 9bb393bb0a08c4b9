import type { Situation, TranscriptItem } from '../../evidence/transcript.ts';
import { CONTROLS } from '../../spec/policy/closed-lists.ts';
import { type DemandFailure, type DemandResult, demandResultOf, inapplicableDemand } from './inhabitation-demands.ts';
import { nameOfAct, type SessionTimeline } from './session-timeline.ts';

/** The calls that are always available. `stop` is for sub-agents. */
const ALWAYS_OPEN = [...CONTROLS, 'stop'];

/** Judges P-3: the calls and the entries match, and each successful call names a tool that was offered. */
export function judgeConfinement({ transcript, calls, acts, alignment }: SessionTimeline): DemandResult {
  if (calls.length === 0 && acts.length === 0) return inapplicableDemand('P-3', 'nothing was done');
  const failures: DemandFailure[] = [
    ...alignment.unrecorded.map(({ item }) => ({
      item: item.n,
      seq: null,
      reason: `the call of ${item.tool} left no evidence`,
    })),
    ...alignment.uncalled.map((act) => ({
      item: null,
      seq: act.seq,
      reason: `${nameOfAct(act)} is in the evidence, but the agent made no such call`,
    })),
  ];
  const offered = new OfferedTools();
  const byId = new Map(calls.map((call) => [call.item.callId, call]));
  for (const item of transcript.items) {
    offered.read(item);
    if (item.kind !== 'call') continue;
    const result = byId.get(item.callId)?.result;
    const hasRun = item.outside || result?.status === 'ok' || result?.status === 'failed';
    if (hasRun && !offered.includes(item.tool))
      failures.push({
        item: item.n,
        seq: null,
        reason: `${item.tool} was used, but not offered to the agent`,
      });
  }
  return demandResultOf('P-3', failures);
}

/** The tools in the latest list that the agent got. */
class OfferedTools {
  #tools: readonly string[] | null = null;

  read(item: TranscriptItem): void {
    if (item.kind === 'offered') this.#tools = item.tools;
    const situation: Situation | null = item.kind === 'delivered' || item.kind === 'result' ? item.situation : null;
    if (situation) this.#tools = [...situation.tools, ...ALWAYS_OPEN];
  }

  includes(tool: string): boolean {
    return this.#tools?.includes(tool) ?? false;
  }
}
