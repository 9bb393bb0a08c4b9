import type { Entry } from '../../evidence/entry.ts';
import type { Transcript } from '../../evidence/transcript.ts';
import type { SpecSet } from '../../spec/types.ts';
import { type AlignedCall, type Alignment, alignCalls, callsWithResults } from './align-calls.ts';
import { type Act, actsOf } from './session-acts.ts';

/** The inputs of the demands: the agent's transcript and the recorded acts of one session. */
export interface SessionTimeline {
  readonly sessionId: string;
  readonly specs: SpecSet;
  readonly transcript: Transcript;
  readonly calls: readonly AlignedCall[];
  readonly acts: readonly Act[];
  readonly alignment: Alignment;
  /** The peripheral of the visit that is still open at the end of the evidence; null if none is. */
  readonly stillIn: string | null;
}

export function timelineOf(transcript: Transcript, specs: SpecSet, entries: readonly Entry[]): SessionTimeline {
  const acts = actsOf(entries);
  const calls = callsWithResults(transcript);
  let stillIn: string | null = null;
  for (const { left, entered } of acts) {
    if (left !== null) stillIn = null;
    if (entered !== null) stillIn = entered.peripheral;
  }
  return {
    sessionId: entries[0]?.sessionId ?? '',
    specs,
    transcript,
    calls,
    acts,
    alignment: alignCalls(calls, acts),
    stillIn,
  };
}

/** Names an act in a message: its kind and its tool or destination. */
export const nameOfAct = ({ kind, what, refused }: Act): string =>
  `${refused ? 'a refused ' : ''}${kind} ${what}`.trim();
