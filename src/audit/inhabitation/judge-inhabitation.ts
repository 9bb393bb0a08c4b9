import type { Entry } from '../../evidence/entry.ts';
import type { Transcript } from '../../evidence/transcript.ts';
import type { SpecSet } from '../../spec/types.ts';
import { judgeConfinement } from './confinement.ts';
import { judgeContextInjection } from './context-injection.ts';
import { judgeExplicitExit } from './explicit-exit.ts';
import type { DemandResult } from './inhabitation-demands.ts';
import { judgeInterleavedStreams } from './interleaved-streams.ts';
import { timelineOf } from './session-timeline.ts';
import { judgeSituatedVoice } from './situated-voice.ts';
import { judgeWorldReplacement } from './world-replacement.ts';

/**
 * Judges demands P-1 to P-6 over the agent's transcript, the session's pinned spec and its evidence. A program that
 * drives a session from outside can obey every rule of the spec and still fails a demand.
 */
export function judgeInhabitation(
  transcript: Transcript,
  specs: SpecSet,
  entries: readonly Entry[],
): readonly DemandResult[] {
  const timeline = timelineOf(transcript, specs, entries);
  return [
    judgeWorldReplacement(timeline),
    judgeContextInjection(timeline),
    judgeConfinement(timeline),
    judgeExplicitExit(timeline),
    judgeSituatedVoice(timeline),
    judgeInterleavedStreams(timeline),
  ];
}
