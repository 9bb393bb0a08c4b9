import type { Entry } from '../../evidence/entry.ts';
import type { Transcript } from '../../evidence/transcript.ts';
import type { SpecSet } from '../../spec/types.ts';
import { alignCallsWithActs, type CallAlignment, type CallWithResult, pairCallsWithResults } from './align-calls.ts';
import { readSessionActs, type SessionAct } from './session-acts.ts';

/** The inputs of the demands: the agent's transcript and the recorded acts of one session. */
export interface SessionTimeline {
  readonly sessionId: string;
  readonly specs: SpecSet;
  readonly transcript: Transcript;
  readonly calls: readonly CallWithResult[];
  readonly acts: readonly SessionAct[];
  readonly alignment: CallAlignment;
  /** The peripheral of the visit that is still open at the end of the evidence; null if none is. */
  readonly stillIn: string | null;
}

export function buildSessionTimeline(
  transcript: Transcript,
  specs: SpecSet,
  entries: readonly Entry[],
): SessionTimeline {
  const acts = readSessionActs(entries);
  const calls = pairCallsWithResults(transcript);
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
    alignment: alignCallsWithActs(calls, acts),
    stillIn,
  };
}

export const describeAct = ({ kind, what, refused }: SessionAct): string =>
  `${refused ? 'a refused ' : ''}${kind} ${what}`.trim();
