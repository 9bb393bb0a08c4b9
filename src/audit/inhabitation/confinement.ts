import type { Situation, TranscriptItem } from '../../evidence/transcript.ts';
import { type CheckResult, type InhabitationFinding, inapplicableCheck, judgedCheck } from './inhabitation-checks.ts';
import { nameOfAct, type SessionTimeline } from './session-timeline.ts';

/** Always available. `stop`: a sub-agent ends. */
const CONTROLS = ['hop', 'mode', 'status', 'why', 'stop'];

/** P-3: each call has its entry, each entry its call, and a successful call names a tool of the latest list. */
export function confinement({ transcript, calls, acts, alignment }: SessionTimeline): CheckResult {
  if (calls.length === 0 && acts.length === 0) return inapplicableCheck('P-3', 'nothing was done');
  const findings: InhabitationFinding[] = [
    ...alignment.unheard.map(({ item }) => ({
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
  const offers = new Offers();
  const byId = new Map(calls.map((call) => [call.item.callId, call]));
  for (const item of transcript.items) {
    offers.read(item);
    if (item.kind !== 'call') continue;
    const result = byId.get(item.callId)?.result;
    const went = item.outside || result?.status === 'ok' || result?.status === 'failed';
    if (went && !offers.includes(item.tool))
      findings.push({
        item: item.n,
        seq: null,
        reason: `${item.tool} was used, but had not been offered to the agent`,
      });
  }
  return judgedCheck('P-3', findings);
}

/** The tools presented so far: the latest list. */
class Offers {
  #tools: readonly string[] | null = null;

  read(item: TranscriptItem): void {
    if (item.kind === 'offered') this.#tools = item.tools;
    const situation: Situation | null = item.kind === 'delivered' || item.kind === 'result' ? item.situation : null;
    if (situation) this.#tools = [...situation.tools, ...CONTROLS];
  }

  includes(tool: string): boolean {
    return this.#tools?.includes(tool) ?? false;
  }
}
