import type { Entry } from '../../evidence/entry.ts';
import type { Transcript } from '../../evidence/transcript.ts';
import type { SpecSet } from '../../spec/types.ts';
import { confinement } from './confinement.ts';
import { contextInjection } from './context-injection.ts';
import { explicitExit } from './explicit-exit.ts';
import type { DemandVerdict } from './inhabitation-demands.ts';
import { interleavedStreams } from './interleaved-streams.ts';
import { timelineOf } from './session-timeline.ts';
import { situatedVoice } from './situated-voice.ts';
import { worldReplacement } from './world-replacement.ts';

/**
 * Judges demands P-1 to P-6 over the agent's transcript, the session's pinned spec and its evidence. A program that
 * drives a session from outside can obey every rule of the spec and still fails a demand.
 */
export function judgeInhabitation(
  transcript: Transcript,
  specs: SpecSet,
  entries: readonly Entry[],
): readonly DemandVerdict[] {
  const timeline = timelineOf(transcript, specs, entries);
  return [
    worldReplacement(timeline),
    contextInjection(timeline),
    confinement(timeline),
    explicitExit(timeline),
    situatedVoice(timeline),
    interleavedStreams(timeline),
  ];
}
